"""The examples, each step in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"


def python(script, *words, **environment):
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(
        [sys.executable, str(EXAMPLES / script), *words], check=True, env=own, capture_output=True, text=True
    ).stdout


def test_pay(tmp_path):
    log = tmp_path / "pay.log"

    def pay(*words):
        return python("pay.py", *words, PAY_STORE=str(tmp_path / "pay.db"), PAY_LOG=str(log))

    assert "this will stop and ask before running it" in pay("plan")
    parked = pay("run")
    run = parked.split()[1]
    assert "parked" in parked and not log.exists()
    assert "bank.send_payment" in pay("approvals")
    assert "approved by ann" in pay("approve", "ann")
    assert "done" in pay("resume", run)
    assert "done" in pay("resume", run)
    [line] = log.read_text().splitlines()
    assert line.endswith('{"amount":12.50,"to":"DE02120300000000202051"}')


def test_concurrently():
    assert python("concurrently.py").startswith("Berlin, after 0.")
