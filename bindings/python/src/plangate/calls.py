"""Calls of tools: from the library to Python functions and coroutines, and back."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Set, Union

from ._library import document, ffi, lib, name
from .errors import NotSent, ToolFailed

Tools = Union[Mapping[str, Callable[..., Any]], Callable[["Call"], Any]]
"""Functions by `server.tool`, which get the arguments by name; or one function, which gets the `Call`. With
`Store.run_async` they may be coroutine functions."""
Writer = Callable[[str, Dict[str, Any]], Any]
"""Gets a sentence's instruction, and its inputs by name (each a value, or `Missing`)."""


@dataclass(frozen=True)
class Missing:
    """An input of a sentence that there is not, and why."""

    why: str


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    tool: str
    """`server.tool`."""
    json: str
    """The arguments as JSON, byte for byte what was approved."""
    key: str
    """The idempotency key; empty for a read."""
    number: int = field(repr=False)

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments. Numbers are as Python's `json` reads them."""
        return json.loads(self.json)

    @property
    def cancelled(self) -> bool:
        """Nobody waits for it any more: its deadline passed, or its run was cancelled."""
        return lib.plangate_cancelled(self.number) == 1


@dataclass(frozen=True)
class Uncertain:
    """A call whose outcome nobody recorded, for `reconcile`."""

    tool: str
    """`server.tool`."""
    json: str
    """The arguments as JSON, byte for byte what was sent, if anything was."""
    key: str
    """The idempotency key that went with them."""

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments. Numbers are as Python's `json` reads them."""
        return json.loads(self.json)


@dataclass(frozen=True)
class Happened:
    """What `reconcile` returns of a call that happened, where it knows the value: that of the step."""

    value: Any


Word = Union[bool, Happened, None]
Reconcile = Callable[[Uncertain], Union[Word, Awaitable[Word]]]
"""Says what became of a call: `True` or `Happened(value)`, it did; `False`, it did not *and will not*, so that an approved call
may be made once more; `None`, it cannot tell. Anything else, and an exception, is "cannot tell". With `Store.run_async` it may be a
coroutine function."""


_current: contextvars.ContextVar[Call] = contextvars.ContextVar("plangate_call")


def current_call() -> Call:
    """The call that is being made, for a tool that wants its key or wants to know whether it was cancelled."""
    return _current.get()


def _answer(call: Call, outcome: int, text: str) -> None:
    # That nobody waits for it any more is nothing to raise in a tool that is done.
    lib.plangate_answer(call.number, outcome, *document(text))


def _ok(call: Call, value: Any) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as e:
        _raised(call, e, "the tool answered, but not with JSON: ")
    else:
        _answer(call, 1, text)


def _raised(call: Call, error: BaseException, words: str = "") -> None:
    text = f"{words}{type(error).__name__}: {error}".encode(errors="replace").decode()
    if isinstance(error, ToolFailed):
        _answer(call, -1, json.dumps(str(error)))
    elif isinstance(error, NotSent):
        _answer(call, -3, json.dumps(str(error)))
    else:
        # A read failed; whether a call that changes something happened, nobody knows.
        _answer(call, -2 if call.key else -1, json.dumps(text))


def _function(call: Call, tools: Tools, writer: Optional[Writer]) -> Callable[[], Any]:
    if call.tool == "write":
        if writer is None:
            raise ToolFailed("no writer was given")
        told = call.arguments
        inputs = {i["name"]: i["value"] if "value" in i else Missing(i["missing"]) for i in told["inputs"]}
        return lambda: writer(told["instruction"], inputs)
    if not isinstance(tools, Mapping):
        return lambda: tools(call)
    function = tools.get(call.tool)
    if function is None:
        raise NotSent(f"the host has no tool {call.tool}")
    arguments = call.arguments
    return lambda: function(**arguments)


def _call(number: int, tool: Any, args: Any, key: Any) -> Call:
    return Call(ffi.string(tool).decode(), ffi.string(args).decode(), ffi.string(key).decode(), number)


_SIGNATURE = "int32_t(void *, uint64_t, const char *, const char *, const char *)"
_LOOK_UP = "int32_t(void *, const char *, const char *, const char *)"


def _reconciled(call: Uncertain, word: Any) -> None:
    happened, text = 0, ""
    if isinstance(word, Happened):
        happened, text = 1, _json_or_nothing(word.value)
    elif isinstance(word, bool):
        happened = 1 if word else -1
    elif word is not None:
        text = json.dumps(f"reconcile returned {type(word).__name__}, which is no answer")
    lib.plangate_reconciled(name(call.key), happened, *document(text))


def _json_or_nothing(value: Any) -> str:
    """That it happened is known, whatever its value is."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return ""
    return text


def _cannot_tell(call: Uncertain, error: BaseException) -> None:
    text = f"{type(error).__name__}: {error}".encode(errors="replace").decode()
    lib.plangate_reconciled(name(call.key), 0, *document(json.dumps(text)))


def looks_up(reconcile: Optional[Reconcile]) -> Any:
    """A callback that asks on the thread that it comes on, or NULL."""
    if reconcile is None:
        return ffi.NULL

    @ffi.callback(_LOOK_UP, error=0)
    def callback(_user: Any, key: Any, tool: Any, args: Any) -> int:
        call = Uncertain(ffi.string(tool).decode(), ffi.string(args).decode(), ffi.string(key).decode())
        try:
            word = reconcile(call)
            if inspect.isawaitable(word):
                if inspect.iscoroutine(word):
                    word.close()
                raise TypeError("reconcile is a coroutine: use run_async and resume_async")
        except BaseException as e:  # whatever it is, it ends here
            _cannot_tell(call, e)
        else:
            _reconciled(call, word)
        return 0

    return callback


def on_threads(tools: Tools, writer: Optional[Writer]) -> Any:
    """A callback that makes each call on the thread that it comes on."""

    @ffi.callback(_SIGNATURE, error=-1)
    def callback(_user: Any, number: int, tool: Any, args: Any, key: Any) -> int:
        call = _call(number, tool, args, key)
        _current.set(call)
        try:
            value = _function(call, tools, writer)()
            if inspect.isawaitable(value):
                if inspect.iscoroutine(value):
                    value.close()
                raise NotSent(f"{call.tool} is a coroutine: use run_async and resume_async")
        except BaseException as e:  # whatever it is, it ends here
            _raised(call, e)
        else:
            _ok(call, value)
        return lib.PLANGATE_ANSWERED

    return callback


class OnLoop:
    """Makes each call as a task of an event loop: coroutines there, plain functions on threads of their own."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        tools: Tools,
        writer: Optional[Writer],
        reconcile: Optional[Reconcile],
    ) -> None:
        self.loop, self.tools, self.writer = loop, tools, writer
        self.tasks: Set["asyncio.Task[None]"] = set()
        self.stopped = False

        @ffi.callback(_SIGNATURE, error=-1)
        def callback(_user: Any, number: int, tool: Any, args: Any, key: Any) -> int:
            call = _call(number, tool, args, key)
            try:
                loop.call_soon_threadsafe(self._start, call)
            except RuntimeError:  # the loop is closed
                _answer(call, -3, '"the event loop is closed"')
                return lib.PLANGATE_ANSWERED
            return lib.PLANGATE_LATER

        @ffi.callback(_LOOK_UP, error=0)
        def look_up(_user: Any, key: Any, tool: Any, args: Any) -> int:
            call = Uncertain(ffi.string(tool).decode(), ffi.string(args).decode(), ffi.string(key).decode())
            try:
                loop.call_soon_threadsafe(lambda: self._begin(self._look_up(reconcile, call)))
            except RuntimeError:  # the loop is closed
                return 0
            return lib.PLANGATE_RECONCILE_LATER

        self.callback = callback
        self.look_up = ffi.NULL if reconcile is None else look_up

    def stop(self) -> None:
        """Starts nothing more, and cancels what is under way."""
        self.stopped = True
        for task in self.tasks:
            task.cancel()

    def _start(self, call: Call) -> None:
        if self.stopped:
            return _answer(call, -3, '"the run was cancelled"')
        self._begin(self._make(call))

    def _begin(self, coroutine: Any) -> None:
        task = self.loop.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _look_up(self, reconcile: Any, call: Uncertain) -> None:
        try:
            word = await _awaited(lambda: reconcile(call), _is_coroutine(reconcile))
        except BaseException as e:
            _cannot_tell(call, e)
            if not isinstance(e, Exception) and not isinstance(e, asyncio.CancelledError):
                raise
        else:
            _reconciled(call, word)

    async def _make(self, call: Call) -> None:
        _current.set(call)
        try:
            function = _function(call, self.tools, self.writer)
            value = await _awaited(function, _is_async(call, self.tools, self.writer))
        except BaseException as e:
            _raised(call, e)
            if not isinstance(e, Exception) and not isinstance(e, asyncio.CancelledError):
                raise
        else:
            _ok(call, value)


async def _awaited(function: Callable[[], Any], is_async: bool) -> Any:
    if is_async:
        return await function()
    value = await asyncio.to_thread(function)
    return await value if inspect.isawaitable(value) else value


def _is_async(call: Call, tools: Tools, writer: Optional[Writer]) -> bool:
    if call.tool == "write":
        function: Any = writer
    else:
        function = tools.get(call.tool) if isinstance(tools, Mapping) else tools
    return _is_coroutine(function)


def _is_coroutine(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


__all__: List[str] = ["Call", "Happened", "Missing", "Reconcile", "Tools", "Uncertain", "Writer", "current_call"]
