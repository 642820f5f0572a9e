#!/usr/bin/env python3
"""Runs ours and every peer that is set up, in one go on this machine, in interleaved rounds, and prints a table of ratios.

Of a fan of 32 calls that block for 50 ms: wall over the slowest. Of the others: microseconds a step. `ours / theirs` below
one means that ours is that much cheaper.
"""

import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
OURS = HERE.parent.parent / "target/release/report"
PYTHON = HERE / ".venv/bin/python"
PEERS = {
    "LangGraph": [PYTHON, HERE / "langgraph_state.py"],
    "OpenAI Agents SDK": [PYTHON, HERE / "openai_agents.py"],
    "dask": [PYTHON, HERE / "dask_delayed.py"],
    "Python thread pool": [PYTHON, HERE / "threads.py"],
    "dagrs": [HERE / "dagrs/target/release/peer-dagrs"],
}
SHAPES = ["blocking-32", "fan-1000", "chain-1000", "layers-10x10"]


def measure(command):
    """The numbers that one process prints, by shape; nothing where it is not there or fails."""
    if not pathlib.Path(command[0]).exists():
        return {}
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900)
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:]
        print(f"{command[-1]}: {' '.join(last)}", file=sys.stderr)
    return {name: float(number) for name, number in (line.split() for line in ran.stdout.splitlines())}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    everyone = {"plangate": [OURS, "peers"], **PEERS}
    seen = {name: {shape: [] for shape in SHAPES} for name in everyone}
    for _ in range(rounds):
        for name, command in everyone.items():
            for shape, number in measure(command).items():
                seen[name][shape].append(number)
    middle = {
        name: {shape: statistics.median(of) for shape, of in shapes.items() if of} for name, shapes in seen.items()
    }
    ours = middle["plangate"]
    print("| | " + " | ".join(SHAPES) + " |")
    print("|---|" + "---:|" * len(SHAPES))
    for name, shapes in middle.items():
        cells = [f"{shapes[s]:.2f}" if s in shapes else "not run" for s in SHAPES]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for name, shapes in middle.items():
        if name != "plangate":
            cells = [f"{ours[s] / shapes[s]:.4f}" if s in shapes and s in ours else "" for s in SHAPES]
            print(f"| ours / {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
