"""A process that pays and is killed before anybody hears of it: `killed.py WAY FOLDER`, with WAY `framework` or `plangate`."""

import os
import signal
import sys
from pathlib import Path

from frameworks import framework_graph, plangate_graph

if __name__ == "__main__":
    way, folder = sys.argv[1], Path(sys.argv[2])

    def pay_and_die(to, amount):
        with (folder / "log").open("a") as log:
            log.write(f"{to}\n")
        if not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"paid": True}

    make = {"framework": framework_graph, "plangate": plangate_graph}[way]
    make(folder, pay_and_die, sys.argv[3])
