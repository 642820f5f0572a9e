"""The package against the library."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time

import pytest

import plangate
from bank import CATALOG, EDITABLE, FOUR, PAY
from header import declarations
from plangate._cdef import CDEF


@pytest.fixture
def store():
    with plangate.Store(":memory:") as opened:
        yield opened


def plan(recipe):
    return plangate.compile(recipe, catalog=CATALOG)


class Bank:
    """Tools that count."""

    def __init__(self):
        self.payments = []

    def tools(self):
        return {"bank.list_accounts": lambda of: [of], "bank.send_payment": self.send_payment}

    def send_payment(self, to, amount):
        self.payments.append((to, amount, plangate.current_call().key))
        return {"paid": True}


def test_the_declarations_are_those_of_the_header():
    assert CDEF == declarations(), "run tests/write_cdef.py"


def test_versions():
    assert plangate.version() == "0.1.0"


def test_cards_and_actions():
    made = plan(PAY)
    assert "this will stop and ask before running it" in str(made)
    assert json.loads(made.card("json"))["stops"] == 1
    for format in ("markdown", "html", "mermaid"):
        assert "pay" in made.card(format)
    assert plangate.load(made.actions, catalog=CATALOG).actions == made.actions
    with pytest.raises(ValueError):
        made.card("nonsense")


def test_an_exception_carries_the_diagnostics():
    with pytest.raises(plangate.PlanError) as refused:
        plan('then:\n  a: bank.list_acounts {}\n  a: bank.send_payment {}\n')
    error = refused.value
    assert error.code == "PLANGATE_E_PLAN"
    codes = [d.code for d in error.diagnostics]
    assert "R0120" in codes and "R0202" in codes
    assert error.diagnostics[0].spans[0]["line"] == 2
    assert "did you mean `bank.list_accounts`" in str(error)
    with pytest.raises(plangate.PlanError):
        plangate.compile(b"then:\n  a: bank.list_accounts {\"of\":\"\0\"}\n", catalog=CATALOG)
    with pytest.raises(plangate.ArgumentError):
        plangate.compile(b"\xff")
    tampered = plan(PAY).actions.replace('"asked": true', '"asked": false').replace('"asked":true', '"asked":false')
    with pytest.raises(plangate.PlanError):
        plangate.load(tampered, catalog=CATALOG)


def test_warnings_stand_on_the_plan():
    made = plan(FOUR + "ask me:\n  - all well?\n")
    assert [d.severity for d in made.diagnostics] == ["warning"]
    assert plan(FOUR).diagnostics == []


def test_parks_is_approved_and_resumed(store):
    bank = Bank()
    run = store.run(plan(PAY), tools=bank.tools(), requester="ann", title="pay")
    assert run.parked and run.state == "parked" and not bank.payments
    assert run["accounts"] == ["ann"]
    with pytest.raises(KeyError):
        run["pay"]
    [approval] = run.approvals()
    assert approval.tool == "bank.send_payment" and approval.arguments == {"to": "ann", "amount": 12.5}
    assert approval.reason and approval.expires
    approved = approval.approve(by=plangate.Person("bob", issuer="sso", verified=True))
    assert approved.state == "approved" and not bank.payments
    with pytest.raises(plangate.Decided) as decided:
        approval.reject(by="cleo")
    assert "bob" in decided.value.details["by"] and decided.value.details["state"] == "approved"
    done = store.resume(run, tools=bank.tools())
    assert done.done and done["pay"] == {"paid": True}
    assert store.resume(run.id, tools=bank.tools()).done
    assert [(to, amount) for to, amount, _ in bank.payments] == [("ann", 12.5)]
    assert len(bank.payments[0][2]) == 64
    assert store.runs()[0]["title"] == "pay"
    kinds = [event["what"]["kind"] for event in store.events()]
    assert kinds.count("claimed") == 1 and "approved" in kinds
    last = store.events()[-1]
    assert store.events(f"{last['seq']}:{last['hash']}") == []


ANN = plangate.Person("ann", issuer="sso", roles=("finance",), verified=True)
BOB = plangate.Person("bob", issuer="sso", roles=("finance",), verified=True)


def test_approved_with_other_arguments(store):
    bank = Bank()
    run = store.run(plangate.compile(PAY, catalog=CATALOG, policy=EDITABLE), tools=bank.tools())
    [approval] = run.approvals()
    with pytest.raises(plangate.NotAllowed, match="do not fit"):
        approval.approve(by=ANN, edited={"to": "bob"})
    with pytest.raises(plangate.NotAllowed, match="verified"):
        approval.approve(by="ann", edited={"to": "bob", "amount": 1})
    with pytest.raises(plangate.ArgumentError, match="edited_args_json"):
        approval.approve(by=ANN, edited="[]")
    assert store.approval(approval.id).state == "pending" and store.approval(approval.id).edits == []
    # As JSON, numbers stay as they are written.
    decided = approval.approve(by=ANN, edited='{"to":"bob","amount":2.50}')
    assert decided.state == "approved" and decided.undecided is None
    assert decided.arguments == {"to": "bob", "amount": 2.5}
    [edit] = decided.edits
    assert edit["arguments"] == {"to": "ann", "amount": 12.5} and edit["by"]["subject"] == "ann"
    assert store.resume(run, tools=bank.tools()).done
    assert [(to, amount) for to, amount, _ in bank.payments] == [("bob", 2.5)]


def test_an_editor_who_may_not_decide(store):
    bank = Bank()
    policy = EDITABLE + "requester_may_decide = false\n"
    run = store.run(plangate.compile(PAY, catalog=CATALOG, policy=policy), tools=bank.tools())
    [approval] = run.approvals()
    edited = approval.approve(by=ANN, edited={**approval.arguments, "amount": 3})
    assert edited.state == "pending" and "not decided" in edited.undecided
    with pytest.raises(plangate.Changed):
        approval.approve(by=BOB)
    assert edited.approve(by=BOB).state == "approved"
    assert store.resume(run, tools=bank.tools()).done and bank.payments[0][1] == 3


def test_the_very_same_call_before(store):
    bank = Bank()
    for earlier in (0, 1):
        run = store.run(plan(PAY), tools=bank.tools())
        [approval] = run.approvals()
        assert len(approval.before) == earlier
        approval.approve(by="bob")
        assert store.resume(run, tools=bank.tools()).done
    assert approval.before[0]["state"] == "succeeded" and approval.before[0]["outcome"] == {"ok": {"paid": True}}


def test_who_wrote_a_recipe_is_said_by_the_host(store):
    waives = 'then:\n  note: bank.set_note {"text":"x"} without asking\n'
    by_person = plangate.compile(waives, catalog=CATALOG, author="person")
    assert json.loads(by_person.card("json"))["stops"] == 0
    assert json.loads(plan(waives).card("json"))["stops"] == 1
    with pytest.raises(plangate.PlanError):
        plangate.load(by_person.actions, catalog=CATALOG)
    loaded = plangate.load(by_person.actions, catalog=CATALOG, author="person")
    assert store.run(loaded, tools={"bank.set_note": lambda text: None}).done
    assert store.runs()[0]["author"] == "person"
    with pytest.raises(plangate.ArgumentError, match="author"):
        plangate.compile(waives, catalog=CATALOG, author="nonsense")


def test_a_no_reaches_the_record(store):
    bank = Bank()
    run = store.run(plan(PAY), tools=bank.tools())
    run.approvals()[0].reject(by="bob", reason="not today")
    ended = store.resume(run, tools=bank.tools())
    assert ended.failed and not bank.payments
    assert "not today" in json.dumps(ended.record)


def approved(store, timeout=0, **tools):
    given = {"bank.list_accounts": lambda of: [of], **tools}
    run = store.run(plan(PAY), tools=given, timeout=timeout)
    for approval in run.approvals():
        approval.approve(by="bob")
    return run, given


def raises(error):
    def tool(**_):
        raise error

    return tool


def test_an_exception_after_an_effect_leaves_it_uncertain(store):
    calls = []

    def send_payment(to, amount):
        calls.append(to)
        raise ConnectionResetError("after the request was sent")

    run, tools = approved(store, **{"bank.send_payment": send_payment})
    run = store.resume(run, tools=tools)
    assert run.parked and run.steps["pay"]["state"] == "uncertain"
    assert "ConnectionResetError" in run.steps["pay"]["error"]
    assert store.resume(run, tools=tools).parked and calls == ["ann"]
    [row] = run.approvals()
    row.settle(True, by="bob", value={"paid": True}, note="looked at the statement")
    run = store.resume(run, tools=tools)
    assert run.done and run["pay"] == {"paid": True} and calls == ["ann"]


def lost(store):
    """A call whose outcome is not known, and the tools that lost it; they pay if they are asked again."""
    calls = []

    def send_payment(to, amount):
        calls.append(plangate.current_call().key)
        if len(calls) == 1:
            raise ConnectionResetError("after the request was sent")
        return {"paid": "again"}

    run, tools = approved(store, timeout=0.3, **{"bank.send_payment": send_payment})
    assert store.resume(run, tools=tools).parked
    return run, tools, calls


def asked(resume, seen):
    """Resumes until the deadline of the lost call has passed and the host was asked."""
    until = time.monotonic() + 60
    while True:
        run = resume()
        if seen or time.monotonic() > until:
            return run
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("word", "done", "value", "calls", "kept"),
    [
        (lambda: True, True, None, 1, {"happened": None}),
        (lambda: plangate.Happened({"paid": True}), True, {"paid": True}, 1, {"happened": {"paid": True}}),
        (lambda: plangate.Happened(object()), True, None, 1, {"happened": None}),
        (lambda: False, True, {"paid": "again"}, 2, "did_not"),
        (lambda: None, False, None, 1, {"unknown": "the host does not know"}),
        (lambda: "yes", False, None, 1, {"unknown": "reconcile returned str, which is no answer"}),
        (lambda: 1 / 0, False, None, 1, {"unknown": "ZeroDivisionError: division by zero"}),
    ],
)
@pytest.mark.parametrize("how", ["threads", "coroutine", "plain function on the loop"])
def test_the_host_says_what_became_of_a_call(store, word, done, value, calls, kept, how):
    run, tools, made = lost(store)
    seen = []

    def reconcile(call):
        seen.append((call.tool, call.arguments, call.key))
        return word()

    async def looks_up(call):
        await asyncio.sleep(0)
        return reconcile(call)

    def resume():
        if how == "threads":
            return store.resume(run, tools=tools, reconcile=reconcile)
        told = looks_up if how == "coroutine" else reconcile
        return asyncio.run(store.resume_async(run, tools=tools, reconcile=told))

    ended = asked(resume, seen)
    assert seen == [("bank.send_payment", {"to": "ann", "amount": 12.5}, made[0])]
    assert ended.done == done and len(made) == calls and len(set(made)) == 1
    if value is not None:
        assert ended["pay"] == value
    # It is asked once, and its word can be read.
    assert resume().done == done and len(seen) == 1 and len(made) == calls
    row = next(e["what"]["row"] for e in store.events() if e["what"]["kind"] == "reconciled")
    assert store.approval(row).told["reconciled"]["answer"] == kept


def test_a_coroutine_that_looks_up_needs_the_loop(store):
    run, tools, made = lost(store)
    seen = []

    async def reconcile(call):
        return True

    def plain(call):
        seen.append(call)
        return reconcile(call)

    assert asked(lambda: store.resume(run, tools=tools, reconcile=plain), seen).parked
    assert "run_async" in json.dumps(store.approvals()[0].told["reconciled"])


@pytest.mark.parametrize(
    ("error", "state", "says"),
    [
        (plangate.ToolFailed("no money"), "failed", "no money"),
        (plangate.NotSent("closed"), "failed", "not sent: closed"),
        (KeyboardInterrupt(), "uncertain", "KeyboardInterrupt"),
    ],
)
def test_what_exceptions_of_tools_mean(store, error, state, says):
    run, tools = approved(store, **{"bank.send_payment": raises(error)})
    run = store.resume(run, tools=tools)
    assert run.steps["pay"]["state"] == state and says in run.steps["pay"]["error"]


def test_what_is_no_json_leaves_an_effect_uncertain(store):
    run, tools = approved(store, **{"bank.send_payment": lambda to, amount: object()})
    assert store.resume(run, tools=tools).steps["pay"]["state"] == "uncertain"


def test_a_read_that_raises_failed(store):
    run = store.run(plan(PAY), tools={"bank.list_accounts": raises(ValueError("no such account"))})
    assert run.failed and run.steps["accounts"]["error"] == "ValueError: no such account"
    assert run.steps["pay"]["state"] == "blocked"
    run = store.run(plan(FOUR), tools={})
    assert run.failed and "no tool bank.list_accounts" in run.steps["a"]["error"]


def test_callbacks_survive_the_collector(store):
    def tool(of):
        gc.collect()
        return of

    for _ in range(20):
        assert store.run(plan(FOUR), tools={"bank.list_accounts": tool}).done


def test_one_function_gets_the_call(store):
    seen = []
    run = store.run(plan(FOUR), tools=lambda call: seen.append((call.tool, call.json, call.cancelled)))
    assert run.done and ("bank.list_accounts", '{"of":"ann"}', False) in seen


def test_sentences_and_inputs(store):
    recipe = "inputs:\n  who: text\ntogether:\n  a: bank.list_accounts {\"of\":\"{who}\"}\nthen:\n  b: greet {a}\n"
    seen = {}

    def writer(instruction, inputs):
        seen.update(instruction=instruction, inputs=inputs)
        return "hello"

    run = store.run(plan(recipe), tools=Bank().tools(), writer=writer, inputs={"who": "ann"})
    assert run["b"] == "hello" and seen == {"instruction": "greet {a}", "inputs": {"a": ["ann"]}}
    with pytest.raises(plangate.ArgumentError, match="who"):
        store.run(plan(recipe), tools=Bank().tools(), writer=writer)
    assert store.run(plan(recipe), tools=Bank().tools(), inputs={"who": "ann"}).failed


def test_from_threads_at_once(store):
    barrier = threading.Barrier(4, timeout=30)

    def tool(of):
        barrier.wait()
        return threading.get_ident()

    run = store.run(plan(FOUR), tools={"bank.list_accounts": tool})
    assert run.done and len({run[step] for step in "abcd"}) == 4


def fastest(run, enough=0.18):
    """Seconds of the fastest round, on a machine that has other things to do too. One after the other it is never under 0.4."""
    best = 9.0
    for _ in range(25):
        start = time.monotonic()
        run()
        best = min(best, time.monotonic() - start)
        if best < enough:
            break
    return best


def test_four_slow_tools_on_threads(store):
    made = plan(FOUR)
    tools = {"bank.list_accounts": lambda of: time.sleep(0.1)}
    assert fastest(lambda: store.run(made, tools=tools)) < 0.18


def test_four_slow_coroutines(store):
    made = plan(FOUR)

    async def tool(of):
        await asyncio.sleep(0.1)
        return of

    async def run():
        assert (await store.run_async(made, tools={"bank.list_accounts": tool})).done

    assert fastest(lambda: asyncio.run(run())) < 0.18


def test_the_loop_goes_on_while_tools_block(store):
    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        run = await store.run_async(plan(FOUR), tools={"bank.list_accounts": lambda of: time.sleep(0.2)})
        ticking.cancel()
        assert run.done and ticks >= 10

    asyncio.run(main())


def test_async_parks_is_approved_and_resumed(store):
    payments = []

    async def send_payment(to, amount):
        payments.append(plangate.current_call().key)
        await asyncio.sleep(0)
        return {"paid": True}

    async def main():
        tools = {"bank.list_accounts": lambda of: [of], "bank.send_payment": send_payment}
        run = await store.run_async(plan(PAY), tools=tools)
        assert run.parked and not payments
        run.approvals()[0].approve(by="bob")
        run = await store.resume_async(run, tools=tools)
        assert run.done and len(payments) == 1

    asyncio.run(main())


def test_a_cancelled_task_leaves_nothing_running(store):
    started = threading.Event()
    calls = []

    async def tool(of):
        calls.append(of)
        started.set()
        await asyncio.sleep(60)

    async def main():
        task = asyncio.create_task(store.run_async(plan(FOUR), tools={"bank.list_accounts": tool}, threads=2))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(calls)

    assert asyncio.run(main()) <= 2


def test_a_coroutine_needs_the_loop(store):
    async def tool(of):
        return of

    run = store.run(plan(FOUR), tools={"bank.list_accounts": tool})
    assert run.failed and "run_async" in run.steps["a"]["error"]


def test_a_deadline_is_seen_and_a_late_word_counts(store):
    def send_payment(to, amount):
        call = plangate.current_call()
        while not call.cancelled:
            time.sleep(0.001)
        while store.record(run)["state"] != "parked":
            time.sleep(0.001)
        return {"paid": "late"}

    run, tools = approved(store, **{"bank.send_payment": send_payment})
    resumed = store.resume(run, tools=tools, timeout=0.1)
    assert resumed.parked
    assert store.resume(run, tools=tools)["pay"] == {"paid": "late"}


def test_cancel(store):
    bank = Bank()
    run = store.run(plan(PAY), tools=bank.tools())
    store.cancel(run)
    with pytest.raises(plangate.Cancelled):
        store.resume(run, tools=bank.tools())
    assert store.approvals() == [] and not bank.payments


def test_options(store):
    with pytest.raises(TypeError, match="thread"):
        store.run(plan(FOUR), tools={}, thread=4)
    with pytest.raises(plangate.PlanError, match="bank"):
        store.run(plan(FOUR), tools={}, catalog={"servers": {}})
    with pytest.raises(plangate.NotFound):
        store.resume("no such run")
    with pytest.raises(ValueError):
        store.approval("a\0b")
    store.close()
    with pytest.raises(plangate.ArgumentError):
        store.runs()


def test_errors_of_stores(tmp_path):
    (tmp_path / "text").write_text("not a store\n" * 100)
    with pytest.raises(plangate.StoreError, match="text"):
        plangate.Store(tmp_path / "text")


def test_fork_after_a_run(store):
    assert store.run(plan(FOUR), tools={"bank.list_accounts": lambda of: of}).done
    child = os.fork()
    if child == 0:
        try:
            own = plangate.Store(":memory:")
            os._exit(0 if own.run(plan(FOUR), tools={"bank.list_accounts": lambda of: of}).done else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_two_processes_and_one_effect(tmp_path):
    """Parked here, approved there, resumed in two processes at once: made once."""
    path, log = tmp_path / "runs.db", tmp_path / "log"
    with plangate.Store(path) as store:
        run = store.run(plan(PAY), tools=Bank().tools())
        assert run.parked
    script = tmp_path / "resume.py"
    script.write_text(
        "import sys, plangate\n"
        "def send_payment(to, amount):\n"
        f"    open({str(log)!r}, 'a').write(to + '\\n')\n"
        "    return {}\n"
        f"store = plangate.Store({str(path)!r})\n"
        "if sys.argv[1] == 'approve':\n"
        "    store.approvals()[0].approve(by='ann')\n"
        "else:\n"
        "    try:\n"
        f"        store.resume({run.id!r}, tools={{'bank.send_payment': send_payment}})\n"
        "    except plangate.Busy:\n"
        "        pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, script, "approve"], check=True, env=environment)
    both = [subprocess.Popen([sys.executable, script, "resume"], env=environment) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert log.read_text() == "ann\n"
