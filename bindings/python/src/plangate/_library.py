"""The shared library, loaded once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Optional, Tuple, Union

from cffi import FFI

from ._cdef import CDEF
from .errors import error_of

ffi = FFI()
ffi.cdef(CDEF)


def _load() -> Any:
    path = os.environ.get("PLANGATE_LIBRARY") or Path(__file__).with_name("libplangate.so")
    try:
        library = ffi.dlopen(str(path))
    except OSError as e:
        raise ImportError(f"the library of plangate cannot be loaded: {e}") from e
    found, known = library.plangate_abi_version(), library.PLANGATE_ABI_VERSION
    if found != known:
        raise ImportError(f"{path} has version {found} of the C ABI; this package knows {known}")
    return library


lib = _load()


def version() -> str:
    """Version of the library."""
    return ffi.string(lib.plangate_version()).decode()


def document(text: Union[str, bytes]) -> Tuple[Any, int]:
    """Text as (pointer, length). Keep what is returned for as long as the call."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    return ffi.new("char[]", data), len(data)


def name(text: Optional[str]) -> Any:
    """An id as a C string, or NULL."""
    if text is None:
        return ffi.NULL
    if "\0" in text:
        raise ValueError("an id or a name holds no NUL")
    return ffi.new("char[]", text.encode())


def take(buf: Any) -> str:
    """The text of a buffer, which is freed."""
    try:
        return ffi.buffer(buf.data, buf.len)[:].decode() if buf.data else ""
    finally:
        lib.plangate_buf_free(buf)


def check(status: int, err: Any = None) -> int:
    """The status if it is an ordinary outcome; raises the error that it is otherwise."""
    told_of(status, err)
    return status


def told_of(status: int, err: Any = None) -> str:
    """What is said beside an ordinary outcome; raises the error that it is otherwise."""
    text = take(err) if err is not None else ""
    if status >= 0:
        return text
    code = ffi.string(lib.plangate_status_name(status)).decode()
    raise error_of(code, json.loads(text) if text else {})


def text_of(function: Any, *args: Any) -> str:
    """Calls a function that ends in `out, err` and gives the text."""
    out, err = ffi.new("plangate_buf *"), ffi.new("plangate_buf *")
    check(function(*args, out, err), err)
    return take(out)
