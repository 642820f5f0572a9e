"""LangGraph: a state graph with a node a step, compiled once."""

import operator
import time
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph

from peer import SLOW, report


class State(TypedDict):
    done: Annotated[int, operator.add]


def graph(layers, width, step):
    builder = StateGraph(State)
    names = [[f"l{layer}s{i}" for i in range(width)] for layer in range(layers)]
    for layer in names:
        for name in layer:
            builder.add_node(name, step)
    for name in names[0]:
        builder.add_edge(START, name)
    for above, layer in zip(names, names[1:]):
        for name in layer:
            builder.add_edge(above if len(above) > 1 else above[0], name)
    for name in names[-1]:
        builder.add_edge(name, END)
    return builder.compile()


def prepare(layers, width):
    compiled = graph(layers, width, lambda _: {"done": 1})
    return lambda: compiled.invoke({"done": 0}, {"recursion_limit": layers + 10})


def slow(_):
    time.sleep(SLOW)
    return {"done": 1}


WIDE = graph(1, 32, slow)


if __name__ == "__main__":
    report(prepare, lambda: WIDE.invoke({"done": 0}), rounds=3)
