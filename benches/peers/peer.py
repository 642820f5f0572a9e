"""What the Python peers share: medians of rounds, and one line a shape."""

import statistics
import time

SLOW = 0.05
SHAPES = {"fan-1000": (1, 1000), "chain-1000": (1000, 1), "layers-10x10": (10, 10)}


def median(rounds, run):
    """The median over rounds of what `run` gives, after one that does not count."""
    run()
    return statistics.median(run() for _ in range(rounds))


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def say(name, number):
    print(f"{name} {number:.4f}", flush=True)


def report(prepare, blocking, rounds=5):
    """`prepare(layers, width)` gives a call that runs it once; `blocking()` runs 32 steps that block, as set up by default."""
    say("blocking-32", median(3, lambda: timed(blocking)) / SLOW)
    for name, (layers, width) in SHAPES.items():
        run = prepare(layers, width)
        say(name, median(rounds, lambda: timed(run)) * 1e6 / (layers * width))
