#!/usr/bin/env python3
"""Runs ours and every peer that is set up, in one go on this machine, in interleaved rounds, and prints a table of ratios.

Of a fan of 32 calls that block for 50 ms: wall over the slowest. Of the others: microseconds a step. `ours / theirs` below
one means that ours is that much cheaper. A peer can take minutes a round; name some to run these alone.
"""

import argparse
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
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=3, help="how often each is run (3)")
    arguments.add_argument("peers", nargs="*", metavar="PEER", help="of: " + ", ".join(PEERS))
    asked = arguments.parse_args()
    unknown = [name for name in asked.peers if name not in PEERS]
    if unknown:
        arguments.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    rounds = asked.rounds
    peers = {name: command for name, command in PEERS.items() if not asked.peers or name in asked.peers}
    everyone = {"plangate": [OURS, "peers"], **peers}
    seen = {name: {shape: [] for shape in SHAPES} for name in everyone}
    for at in range(rounds):
        for name, command in everyone.items():
            print(f"round {at + 1} of {rounds}: {name}", file=sys.stderr)
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
