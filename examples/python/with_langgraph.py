"""A plan as a node of a LangGraph graph, with LangGraph's own `interrupt` for the question.

The graph remembers the conversation; the store remembers what was asked, decided and done. So the node may run again as
often as LangGraph likes (it runs a node from its start after each interrupt, and again after a crash): the plan's run is found
by the thread's id, what has ended is not made again, and an approval is good for one call whoever answers.
"""

import time
from typing import Any, Callable, Dict

from langchain_core.runnables import RunnableConfig
from langgraph.types import interrupt

import plangate


def plan_node(
    plan: plangate.Plan, store: plangate.Store, tools: Any, *, writer: Any = None, busy_seconds: float = 60
) -> Callable[[Dict[str, Any], RunnableConfig], Dict[str, Any]]:
    """A node that runs the plan once for each thread of the graph.

    Where the plan waits for people it interrupts with `{"card", "approvals": [{"approval", "tool", "arguments", ...}]}`. Resume
    with `Command(resume=[{"approval": ID, "by": "ann", "yes": True}])`, or for an uncertain call with `"happened"` in the place
    of `"yes"`. It writes `{"record": ..., "decided": [...]}` into the state; `decided` tells those who came second what was
    decided before.
    """

    def node(state: Dict[str, Any], config: RunnableConfig) -> Dict[str, Any]:
        title = f"langgraph:{config['configurable']['thread_id']}"
        decided = []

        def resumed(run_id: str) -> plangate.Run:
            until = time.monotonic() + busy_seconds
            while True:
                try:
                    return store.resume(run_id, tools=tools, writer=writer)
                except plangate.Busy:  # another process drives it, and will not take long
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.02)

        known = [run["id"] for run in store.runs() if run["title"] == title]
        if known:
            run = resumed(known[0])
        else:
            run = store.run(plan, tools=tools, writer=writer, title=title, inputs=state.get("inputs"))
        while run.parked:
            waiting = [shown(row) for row in run.approvals() if row.state in ("pending", "uncertain")]
            for answer in interrupt({"card": plan.card(), "approvals": waiting}):
                try:
                    decide(store.approval(answer["approval"]), answer)
                except plangate.Decided as e:
                    decided.append(str(e))
            run = resumed(run.id)
        return {"record": run.record, "decided": decided}

    return node


def shown(row: plangate.Approval) -> Dict[str, Any]:
    """What a person sees."""
    return {
        "approval": row.id,
        "tool": row.tool,
        "arguments": row.arguments,
        "question": row.question,
        "state": row.state,
        "expires": row.expires.isoformat(),
    }


def decide(row: plangate.Approval, answer: Dict[str, Any]) -> None:
    """One person's answer."""
    if "happened" in answer:
        row.settle(answer["happened"], by=answer["by"], value=answer.get("value"), note=answer.get("note"))
    elif answer["yes"]:
        row.approve(by=answer["by"])
    else:
        row.reject(by=answer["by"], reason=answer.get("reason"))
