"""The same payment as a LangGraph graph, by the framework alone and with a plan."""

import sqlite3
import sys
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import plangate
from bank import CATALOG

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "python"
sys.path.insert(0, str(EXAMPLES))
from with_langgraph import plan_node  # noqa: E402

RECIPE = """\
together:
  accounts: bank.list_accounts {"of":"ann"}
  pay: bank.send_payment {"to":"ann","amount":5}
then:
  report: say what there is, from {accounts}
"""


class State(TypedDict, total=False):
    record: Any
    decided: Any
    paid: Any
    looked: Any
    reported: Any


CONFIG = {"configurable": {"thread_id": "one"}}


def saver(folder):
    return SqliteSaver(sqlite3.connect(folder / "graph.db", check_same_thread=False))


def alone(folder, send_payment, look=lambda: None, report=lambda: None):
    """By the framework: a node that interrupts before its effect, and a sibling with a step after it."""

    def pay(state):
        answer = interrupt({"pay": "ann"})
        return {"paid": send_payment("ann", 5) if answer else None}

    graph = StateGraph(State)
    graph.add_node("pay", pay)
    graph.add_node("look", lambda state: {"looked": look()})
    graph.add_node("report", lambda state: {"reported": report()})
    graph.add_edge(START, "pay")
    graph.add_edge(START, "look")
    graph.add_edge("look", "report")
    graph.add_edge("pay", END)
    graph.add_edge("report", END)
    return graph.compile(checkpointer=saver(folder))


def planned(folder, send_payment, accounts=lambda of: [of], writer=lambda instruction, inputs: "a report"):
    """With a plan: one node, and the store beside the graph's own."""
    store = plangate.Store(folder / "runs.db")
    tools = {"bank.list_accounts": accounts, "bank.send_payment": send_payment}
    graph = StateGraph(State)
    graph.add_node("plan", plan_node(plangate.compile(RECIPE, catalog=CATALOG), store, tools, writer=writer))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", END)
    return graph.compile(checkpointer=saver(folder)), store


def framework_graph(folder, send_payment, what):
    """`start` or `approve`, by the framework."""
    graph = alone(folder, send_payment)
    graph.invoke({"start": {}, "approve": Command(resume=True)}[what], CONFIG)


def plangate_graph(folder, send_payment, what):
    """`start`, `approve`, or `again` (after a crash), with a plan."""
    graph, _ = planned(folder, send_payment)
    given = {"start": {}, "again": None}.get(what)
    if what == "approve":
        [question] = graph.get_state(CONFIG).interrupts
        yes = {"by": "bob", "yes": True}
        given = Command(resume=[{"approval": row["approval"], **yes} for row in question.value["approvals"]])
    graph.invoke(given, CONFIG)
