"""Two agent frameworks: what each does by itself with a gated effect, and what it does with a plan."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")
pytest.importorskip("agents")

from agents import Agent, Runner  # noqa: E402
from langgraph.types import Command  # noqa: E402

import plangate  # noqa: E402
from bank import CATALOG  # noqa: E402
from frameworks import CONFIG, RECIPE, alone, planned  # noqa: E402
from sdk import Scripted, sdk_approved, sdk_paused  # noqa: E402
from with_openai_agents import plan_tools  # noqa: E402


class Payments:
    """Counts; and where two may be made at once, waits a moment for the second."""

    def __init__(self, at_once=1):
        self.made = []
        self.barrier = threading.Barrier(at_once)

    def send_payment(self, to, amount):
        self.made.append(to)
        try:
            self.barrier.wait(2)
        except threading.BrokenBarrierError:
            pass
        return {"paid": True}


def both(function):
    results = []
    threads = [threading.Thread(target=lambda: results.append(function())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 2
    return results


# LangGraph: two approvers.


def test_langgraph_alone_pays_twice_for_two_approvers(tmp_path):
    payments = Payments(at_once=2)
    alone(tmp_path, payments.send_payment).invoke({}, CONFIG)
    # Each approver has a process of its own; here, a graph of its own over the same file.
    both(lambda: alone(tmp_path, payments.send_payment).invoke(Command(resume=True), CONFIG))
    assert payments.made == ["ann", "ann"]


def test_with_a_plan_two_approvers_pay_once(tmp_path):
    payments = Payments()
    graph, store = planned(tmp_path, payments.send_payment)
    paused = graph.invoke({}, CONFIG)
    [question] = paused["__interrupt__"]
    [row] = question.value["approvals"]
    assert row["arguments"] == {"to": "ann", "amount": 5}
    people = iter(["bob", "cleo"])

    def approve():
        own, _ = planned(tmp_path, payments.send_payment)
        return own.invoke(Command(resume=[{"approval": row["approval"], "by": next(people), "yes": True}]), CONFIG)

    ended = both(approve)
    assert payments.made == ["ann"]
    assert [state["record"]["state"] for state in ended] == ["done", "done"]
    assert len(store.runs()) == 1


# LangGraph: killed after the effect.


def process(way, folder, what):
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = Path(__file__).with_name("killed.py")
    return subprocess.run([sys.executable, str(script), way, str(folder), what], env=own, timeout=120).returncode


def test_langgraph_alone_pays_again_after_a_kill(tmp_path):
    assert process("framework", tmp_path, "start") == 0
    assert process("framework", tmp_path, "approve") == -signal.SIGKILL
    # The graph still waits for the answer that it was given; whoever answers it again pays again.
    assert process("framework", tmp_path, "approve") == 0
    assert (tmp_path / "log").read_text().split() == ["ann", "ann"]


def test_with_a_plan_nothing_is_paid_again_after_a_kill(tmp_path):
    assert process("plangate", tmp_path, "start") == 0
    assert process("plangate", tmp_path, "approve") == -signal.SIGKILL
    # Run again, it does not pay: it asks what happened.
    assert process("plangate", tmp_path, "again") == 0
    with plangate.Store(tmp_path / "runs.db") as store:
        [row] = store.approvals()
        assert row.state == "uncertain"
        row.settle(True, by="bob", note="it is on the statement")
    assert process("plangate", tmp_path, "again") == 0
    assert (tmp_path / "log").read_text().split() == ["ann"]
    with plangate.Store(tmp_path / "runs.db") as store:
        assert store.runs()[0]["state"] == "done"


# LangGraph: a sibling that nobody has to ask about.


def test_langgraph_alone_holds_the_sibling_back(tmp_path):
    went = []
    graph = alone(tmp_path, Payments().send_payment, lambda: went.append("look"), lambda: went.append("report"))
    graph.invoke({}, CONFIG)
    assert went == ["look"], "the step after the sibling waits for the person"


def test_with_a_plan_the_sibling_goes_on(tmp_path):
    went = []
    look, report = lambda of: went.append("look"), lambda instruction, inputs: went.append("report")
    graph, _ = planned(tmp_path, Payments().send_payment, look, report)
    graph.invoke({}, CONFIG)
    assert went == ["look", "report"]


def test_a_no_ends_the_graph(tmp_path):
    payments = Payments()
    graph, _ = planned(tmp_path, payments.send_payment)
    [question] = graph.invoke({}, CONFIG)["__interrupt__"]
    [row] = question.value["approvals"]
    state = graph.invoke(Command(resume=[{"approval": row["approval"], "by": "bob", "yes": False, "reason": "too much"}]), CONFIG)
    assert state["record"]["state"] == "failed" and payments.made == []
    assert "too much" in json.dumps(state["record"])


# The OpenAI Agents SDK.


def test_the_sdk_alone_pays_twice_for_two_approvers():
    made = []

    async def main():
        saved = await sdk_paused(made.append)
        await asyncio.gather(sdk_approved(made.append, saved), sdk_approved(made.append, saved))

    asyncio.run(main())
    assert made == ["ann", "ann"]


def test_the_sdk_alone_pays_again_after_a_kill(tmp_path):
    assert process("sdk", tmp_path, "start") == 0
    assert process("sdk", tmp_path, "approve") == -signal.SIGKILL
    # What was saved still waits for the answer that it was given.
    assert process("sdk", tmp_path, "approve") == 0
    assert (tmp_path / "log").read_text().split() == ["ann", "ann"]


def writer(instruction, inputs):
    return "a report"


def planned_agent(store, tools, *script):
    plan = plangate.compile(RECIPE, catalog=CATALOG)
    made = plan_tools(plan, store, tools, name="pay_ann", description="Pays Ann.", writer=writer)
    return Agent(name="payer", model=Scripted(*script), tools=made)


RESULT = ("pay_ann_result", lambda came: {"run": json.loads(came[0])["run"]})


def test_with_a_plan_the_tool_is_parked_at_once_and_pays_once(tmp_path):
    payments = Payments()
    store = plangate.Store(tmp_path / "runs.db")
    tools = {"bank.list_accounts": lambda of: [of], "bank.send_payment": payments.send_payment}

    async def start():
        return await Runner.run(planned_agent(store, tools, ("pay_ann", {}), RESULT), "pay ann")

    [started, asked_again] = [json.loads(said) for said in json.loads(asyncio.run(start()).final_output)]
    assert started["state"] == asked_again["state"] == "parked"
    assert started["waiting"][0]["arguments"] == {"to": "ann", "amount": 5}
    # The sibling, and what comes after it, went on.
    assert started["steps"]["report"]["state"] == "done" and payments.made == []

    # Two approvers, each in a store of their own.
    def approve(who):
        [row] = plangate.Store(tmp_path / "runs.db").approvals()
        row.approve(by=who)

    approve("bob")
    with pytest.raises(plangate.Decided, match="bob"):
        plangate.Store(tmp_path / "runs.db").approval(store.approvals()[0].id).approve(by="cleo")

    # Two agents ask what became of it, at once.
    async def result():
        agent = planned_agent(plangate.Store(tmp_path / "runs.db"), tools, ("pay_ann_result", {"run": started["run"]}))
        return json.loads(json.loads((await Runner.run(agent, "and?")).final_output)[0])

    async def twice():
        return await asyncio.gather(result(), result())

    states = {told["state"] for told in asyncio.run(twice())}
    assert states <= {"done", "running"} and "done" in states
    assert payments.made == ["ann"]


def test_with_a_plan_a_crash_after_the_effect_is_asked_about(tmp_path):
    made = []
    script = tmp_path / "crash.py"
    script.write_text(
        "import os, signal, sys, plangate\n"
        "from bank import CATALOG\n"
        "from frameworks import RECIPE\n"
        "def die(to, amount):\n"
        f"    open({str(tmp_path / 'log')!r}, 'a').write(to)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store = plangate.Store({str(tmp_path / 'runs.db')!r})\n"
        "tools = {'bank.list_accounts': lambda of: [of], 'bank.send_payment': die}\n"
        "run = store.run(plangate.compile(RECIPE, catalog=CATALOG), tools=tools, writer=lambda i, n: 'a report')\n"
        "run.approvals()[0].approve(by='bob')\n"
        "store.resume(run, tools=tools, writer=lambda i, n: 'a report')\n"
    )
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, str(script)], env=own, timeout=60).returncode == -signal.SIGKILL
    store = plangate.Store(tmp_path / "runs.db")
    tools = {"bank.list_accounts": lambda of: [of], "bank.send_payment": lambda to, amount: made.append(to)}
    run = store.runs()[0]["id"]

    async def result():
        agent = planned_agent(store, tools, ("pay_ann_result", {"run": run}))
        return json.loads(json.loads((await Runner.run(agent, "and?")).final_output)[0])

    told = asyncio.run(result())
    assert told["state"] == "parked" and told["steps"]["pay"]["state"] == "uncertain"
    store.approvals()[0].settle(True, by="bob")
    assert asyncio.run(result())["state"] == "done"
    assert made == [] and (tmp_path / "log").read_text() == "ann"
