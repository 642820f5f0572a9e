"""The store: runs and approvals."""

from __future__ import annotations

import asyncio
import json
import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._library import check, document, ffi, lib, name, take, text_of, told_of
from .calls import OnLoop, Reconcile, Tools, Writer, looks_up, on_threads
from .people import Person, person
from .plan import Catalog, Plan, catalog_text


def _time(ms: Optional[int]) -> Optional[datetime]:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, timezone.utc)


@dataclass(frozen=True)
class Approval:
    """A row that waits for somebody, or did. Deciding it executes nothing: resume its run."""

    store: "Store" = field(repr=False)
    told: Dict[str, Any] = field(repr=False)
    """All of it, as the library gives it."""
    id: str = ""
    run: str = ""
    step: str = ""
    state: str = ""
    """`pending`, `approved`, `claimed`, `uncertain`, `succeeded`, `failed`, `rejected`, `expired`, ..."""
    undecided: Optional[str] = None
    """Why `approve(edited=...)` edited and did not decide: whoever edits counts as requester, and this one may not decide."""

    @classmethod
    def _of(cls, store: "Store", told: Dict[str, Any], undecided: Optional[str] = None) -> "Approval":
        return cls(store, told, told["id"], told["run"], told["step"], told["state"], undecided)

    @property
    def tool(self) -> Optional[str]:
        """`server.tool` of the call; nothing for a question in front of several steps."""
        call = self.told["call"]
        return f"{call['server']}.{call['tool']}" if call else None

    @property
    def arguments(self) -> Optional[Dict[str, Any]]:
        """The exact arguments."""
        call = self.told["call"]
        return call["arguments"] if call else None

    @property
    def question(self) -> Optional[str]:
        """What is asked, in the recipe's words."""
        return self.told["question"]

    @property
    def digest(self) -> str:
        """What a decision is about. A decision on something else is `Changed`."""
        return self.told["digest"]

    @property
    def reason(self) -> List[str]:
        """Why it is asked."""
        return self.told["reason"]

    @property
    def expires(self) -> datetime:
        """Until when it may be decided."""
        return datetime.fromtimestamp(self.told["expires"] / 1000, timezone.utc)

    @property
    def decided_at(self) -> Optional[datetime]:
        """When it was decided."""
        return _time(self.told["decided_at"])

    @property
    def decided_by(self) -> Optional[str]:
        """By whom, in words."""
        return self.told["decided_by"]

    @property
    def edits(self) -> List[Dict[str, Any]]:
        """What edits replaced, the first of them first: `arguments`, `digest`, `by`, `at`, `note`."""
        return self.told["edits"]

    @property
    def before(self) -> List[Dict[str, Any]]:
        """What became of the very same call earlier, in any run: `approval`, `run`, `state`, `at`, `outcome`."""
        return self.told["before"]

    def approve(
        self, *, by: Union[Person, str], edited: Union[Mapping[str, Any], str, None] = None
    ) -> "Approval":
        """One person's yes to exactly this. Raises `Decided`, `Expired`, `Changed`, `NotAllowed`.

        With `edited`, all of the arguments as a dict or as JSON, those take the place of what was asked, and the yes is one to
        them. They are held against schema and policy first: `NotAllowed` says why they do not pass, and nothing is changed.
        Where the edit stands and the same person may not decide it, what is returned is `pending`, with the reason in
        `undecided`.
        """
        err = ffi.new("plangate_buf *")
        decider = name(person(by).to_json())
        given = edited if edited is None or isinstance(edited, str) else json.dumps(dict(edited), ensure_ascii=False)
        args = (self.store._handle, name(self.id), name(self.digest), decider, name(given), err)
        told = json.loads(told_of(lib.plangate_approve(*args), err) or "{}")
        return self.store._approval(self.id, told.get("message"))

    def reject(self, *, by: Union[Person, str], reason: Optional[str] = None) -> "Approval":
        """One person's no; one is enough. The reason reaches the record."""
        err = ffi.new("plangate_buf *")
        decider = name(person(by).to_json())
        args = (self.store._handle, name(self.id), name(self.digest), decider, name(reason), err)
        check(lib.plangate_reject(*args), err)
        return self.store.approval(self.id)

    def settle(
        self, happened: bool, *, by: Union[Person, str], value: Any = None, note: Optional[str] = None
    ) -> "Approval":
        """A person's word on an uncertain call. Raises `InFlight` while it may still be under way."""
        err = ffi.new("plangate_buf *")
        given = None if value is None else json.dumps(value, ensure_ascii=False)
        decider = name(person(by).to_json())
        args = (self.store._handle, name(self.id), int(happened), decider, name(given), name(note), err)
        check(lib.plangate_settle(*args), err)
        return self.store.approval(self.id)


@dataclass(frozen=True)
class Run:
    """How a run was laid down."""

    store: "Store" = field(repr=False)
    record: Dict[str, Any] = field(repr=False)
    """Its history: every step with state, arguments, result or error, and who decided what."""
    id: str = ""
    parked: bool = False
    """All that is left waits for people. It is stored: any process may decide, and resume it."""

    @property
    def state(self) -> str:
        """`parked`, `done` or `failed`."""
        return self.record["state"]

    @property
    def done(self) -> bool:
        """Every step ended ok or was skipped."""
        return self.state == "done"

    @property
    def failed(self) -> bool:
        """It ended, and at least one step did not end ok."""
        return self.state == "failed"

    @property
    def steps(self) -> Dict[str, Dict[str, Any]]:
        """The steps by id."""
        return {step["id"]: step for step in self.record["steps"]}

    def __getitem__(self, step: str) -> Any:
        """The result of a step. Raises `KeyError` if there is none."""
        found = self.steps[step]
        if "result" not in found:
            raise KeyError(f"{step} is {found['state']} and has no result")
        return found["result"]

    def approvals(self) -> List[Approval]:
        """What this run waits for."""
        return [row for row in self.store.approvals() if row.run == self.id]


class Store:
    """A store of runs and approvals in a SQLite file; `":memory:"` keeps nothing. May be shared by threads, and the file by
    processes."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        out, err = ffi.new("plangate_store **"), ffi.new("plangate_buf *")
        check(lib.plangate_store_open(*document(os.fsencode(path)), out, err), err)
        self._handle = out[0]
        self._close = weakref.finalize(self, lib.plangate_store_free, self._handle)

    def close(self) -> None:
        """Lets go of the file. A run that uses it goes on."""
        self._close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def run(
        self,
        plan: Plan,
        *,
        tools: Tools = {},
        writer: Optional[Writer] = None,
        reconcile: Optional[Reconcile] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        requester: Union[Person, str, None] = None,
        title: str = "",
        **options: Any,
    ) -> Run:
        """Runs a plan until it has ended or waits for people alone. Tools are called on several threads at once.

        `reconcile` gets an `Uncertain`, and says what became of it: `True` or `Happened(value)`, `False` (it did not and will not), or
        `None`. It is asked once about a call whose outcome is not known, after the call's deadline, and has ten seconds.

        Options: `threads` (most calls at once), `timeout` (seconds, for calls that have none), `hold_siblings`, and
        `catalog` and `policy` as they are now, held against the plan.
        """
        callbacks = (on_threads(tools, writer), looks_up(reconcile))
        return self._driven(callbacks, plan, None, inputs, requester, title, options)

    async def run_async(
        self,
        plan: Plan,
        *,
        tools: Tools = {},
        writer: Optional[Writer] = None,
        reconcile: Optional[Reconcile] = None,
        inputs: Optional[Mapping[str, Any]] = None,
        requester: Union[Person, str, None] = None,
        title: str = "",
        **options: Any,
    ) -> Run:
        """As `run`, for asyncio: coroutine functions are tasks of the running loop, which is never blocked."""
        return await self._awaited((tools, writer, reconcile), plan, None, inputs, requester, title, options)

    def resume(
        self,
        run: Union[Run, str],
        *,
        tools: Tools = {},
        writer: Optional[Writer] = None,
        reconcile: Optional[Reconcile] = None,
        **options: Any,
    ) -> Run:
        """Goes on with a run from the store, in any process. What has ended is not made again."""
        callbacks = (on_threads(tools, writer), looks_up(reconcile))
        return self._driven(callbacks, None, _id(run), None, None, "", options)

    async def resume_async(
        self,
        run: Union[Run, str],
        *,
        tools: Tools = {},
        writer: Optional[Writer] = None,
        reconcile: Optional[Reconcile] = None,
        **options: Any,
    ) -> Run:
        """As `resume`, for asyncio."""
        return await self._awaited((tools, writer, reconcile), None, _id(run), None, None, "", options)

    async def _awaited(self, given: Tuple[Tools, Optional[Writer], Optional[Reconcile]], *rest: Any) -> Run:
        calls = OnLoop(asyncio.get_running_loop(), *given)
        # A thread of its own: the loop's pool may be full of tools.
        with_thread = ThreadPoolExecutor(1, thread_name_prefix="plangate")
        try:
            run = asyncio.wrap_future(with_thread.submit(self._driven, (calls.callback, calls.look_up), *rest))
            try:
                return await asyncio.shield(run)
            except asyncio.CancelledError:
                calls.stop()
                await asyncio.wait([run])
                raise
        finally:
            with_thread.shutdown(wait=False)

    def _driven(
        self,
        callbacks: Tuple[Any, Any],
        plan: Optional[Plan],
        run: Optional[str],
        inputs: Optional[Mapping[str, Any]],
        requester: Union[Person, str, None],
        title: str,
        options: Dict[str, Any],
    ) -> Run:
        host = ffi.new("plangate_host *")
        host.size = ffi.sizeof("plangate_host")
        host.tool, host.reconcile = callbacks
        kept = [_set(host, "catalog_json", "catalog_len", _some(catalog_text, options.pop("catalog", None)))]
        kept.append(_set(host, "policy_toml", "policy_len", options.pop("policy", None)))
        who = None if requester is None else person(requester).to_json()
        kept.append(_set(host, "requester_json", "requester_len", who))
        kept.append(name(title))
        host.title = kept[-1]
        host.threads = options.pop("threads", 0)
        host.timeout_ms = round(options.pop("timeout", 0) * 1000)
        host.hold_siblings = int(options.pop("hold_siblings", False))
        if options:
            raise TypeError(f"there is no option {', '.join(options)}")
        record, err = ffi.new("plangate_buf *"), ffi.new("plangate_buf *")
        if plan is not None:
            given = document("" if inputs is None else json.dumps(dict(inputs), ensure_ascii=False))
            status = lib.plangate_run(self._handle, plan._handle, *given, host, record, err)
        else:
            status = lib.plangate_resume(self._handle, name(run), host, record, err)
        told = take(record)
        check(status, err)
        # The callbacks and what the host points to are kept until here.
        del kept, callbacks
        whole = json.loads(told)
        return Run(self, whole, whole["run"], status == lib.PLANGATE_PARKED)

    def approvals(self) -> List[Approval]:
        """What waits for somebody, of all runs, in the order it was asked."""
        told = json.loads(text_of(lib.plangate_approval_list, self._handle))
        return [Approval._of(self, row) for row in told["approvals"]]

    def approval(self, id: str) -> Approval:
        """One approval, whatever its state."""
        return self._approval(id)

    def _approval(self, id: str, undecided: Optional[str] = None) -> Approval:
        return Approval._of(self, json.loads(text_of(lib.plangate_approval_get, self._handle, name(id))), undecided)

    def runs(self) -> List[Dict[str, Any]]:
        """All runs, newest first."""
        return json.loads(text_of(lib.plangate_run_list, self._handle))["runs"]

    def record(self, run: Union[Run, str]) -> Dict[str, Any]:
        """The record of a run, as it is stored at this moment."""
        return json.loads(text_of(lib.plangate_run_record, self._handle, name(_id(run))))

    def cancel(self, run: Union[Run, str]) -> None:
        """Cancels a run: what nobody claimed is not made, calls under way are asked to stop."""
        err = ffi.new("plangate_buf *")
        check(lib.plangate_cancel(self._handle, name(_id(run)), err), err)

    def events(self, after: Union[int, str, None] = None) -> List[Dict[str, Any]]:
        """The event log after a `seq`, or after "SEQ:HASH", which is verified."""
        place = name(None if after is None else str(after))
        return [json.loads(line) for line in text_of(lib.plangate_events, self._handle, place).splitlines()]


def _id(run: Union[Run, str]) -> str:
    return run.id if isinstance(run, Run) else run


def _some(function: Any, value: Optional[Catalog]) -> Optional[str]:
    return None if value is None else function(value)


def _set(host: Any, at: str, length: str, text: Optional[str]) -> Any:
    if text is None:
        return None
    data, size = document(text)
    setattr(host, at, data)
    setattr(host, length, size)
    return data
