"""Plans."""

from __future__ import annotations

import json
import weakref
from typing import Any, Dict, List, Literal, Union

from ._library import check, document, ffi, lib, name, take
from .errors import Diagnostic, diagnostics

Catalog = Union[str, Dict[str, Any]]
"""`{"servers": {NAME: {"tools": [MCP tool definitions]}}}`, as a dict or as JSON."""

Author = Literal["person", "model"]
"""Who wrote a recipe, as the host says."""


def catalog_text(catalog: Catalog) -> str:
    """A catalog as JSON."""
    return catalog if isinstance(catalog, str) else json.dumps(catalog, ensure_ascii=False)


class Plan:
    """A plan, held against its catalog and policy. Made by `compile` and `load`; may be used from any thread."""

    def __init__(self, handle: Any, said: List[Diagnostic]) -> None:
        self._handle = handle
        self.diagnostics = said
        """Warnings and notes about the recipe."""
        weakref.finalize(self, lib.plangate_plan_free, handle)

    @property
    def actions(self) -> str:
        """The plan as `actions.json`."""
        out = ffi.new("plangate_buf *")
        check(lib.plangate_plan_actions(self._handle, out))
        return take(out)

    def card(self, format: str = "text") -> str:
        """What is shown before it runs: `text`, `markdown`, `html`, `mermaid` or `json`."""
        if format not in ("text", "markdown", "html", "mermaid", "json"):
            raise ValueError(f"{format!r} is no format of a card: text, markdown, html, mermaid or json")
        out = ffi.new("plangate_buf *")
        check(lib.plangate_plan_card(self._handle, name(format), out))
        return take(out)

    def __str__(self) -> str:
        return self.card()


def _made(function: Any, author: Author, text: Union[str, bytes], catalog: Catalog, policy: str) -> Plan:
    out, err = ffi.new("plangate_plan **"), ffi.new("plangate_buf *")
    documents = [document(text), document(catalog_text(catalog)), document(policy)]
    status = function(name(author), *(part for pair in documents for part in pair), out, err)
    said: List[Diagnostic] = []
    if status >= 0:
        told = take(err)
        said = diagnostics(json.loads(told)) if told else []
    check(status, err)
    return Plan(out[0], said)


def compile(
    recipe: Union[str, bytes], *, catalog: Catalog = "", policy: str = "", author: Author = "model"
) -> Plan:
    """Compiles a recipe. Raises `PlanError`, whose text is the diagnostics with carets.

    `author` is your word on who wrote it, `"person"` or `"model"`: `without asking` in a model's recipe is void.
    """
    return _made(lib.plangate_compile_as, author, recipe, catalog, policy)


def load(
    actions: Union[str, bytes], *, catalog: Catalog = "", policy: str = "", author: Author = "model"
) -> Plan:
    """Loads `actions.json` and believes nothing in it. Raises `PlanError` with every reason. A file is nobody's word: say that
    its author is a person of one that you know to be as a person left it."""
    return _made(lib.plangate_plan_load_as, author, actions, catalog, policy)
