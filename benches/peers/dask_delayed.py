"""dask's delayed calls on its threaded scheduler."""

import time

import dask
from dask import delayed

from peer import SLOW, report


@delayed(pure=False)
def step(*_):
    return True


@delayed(pure=False)
def slow():
    time.sleep(SLOW)


def prepare(layers, width):
    above = []
    for _ in range(layers):
        above = [step(*above) for _ in range(width)]
    return lambda: dask.compute(*above, scheduler="threads")


def blocking():
    dask.compute(*[slow() for _ in range(32)], scheduler="threads")


if __name__ == "__main__":
    report(prepare, blocking)
