"""A thread pool of the standard library, with a counter a step for what it waits for."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from peer import SLOW, report


def prepare(layers, width):
    def run():
        with ThreadPoolExecutor() as pool:
            done = threading.Event()
            lock = threading.Lock()
            left = [width] * layers

            def step(layer):
                with lock:
                    left[layer] -= 1
                    last = left[layer] == 0
                if last and layer + 1 == layers:
                    done.set()
                elif last:
                    for _ in range(width):
                        pool.submit(step, layer + 1)

            for _ in range(width):
                pool.submit(step, 0)
            done.wait()

    return run


def blocking():
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: time.sleep(SLOW), range(32)))


if __name__ == "__main__":
    report(prepare, blocking)
