"""Exceptions. Each has the `code` of the library, a sentence, what to do, and the diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class Diagnostic:
    """One thing to say about a recipe, a plan, or values."""

    code: str
    message: str
    severity: Optional[str] = None
    help: Optional[str] = None
    spans: List[Dict[str, Any]] = field(default_factory=list)
    """Places, the main one first: `start`, `end`, `line`, `column`, `end_line`, `end_column`, `label`."""
    fix: Optional[Dict[str, Any]] = None
    """A change that mends it for certain: `span`, `replacement`."""


class Error(Exception):
    """What the library refused, or could not do."""

    code: str = ""
    """The status by name, for instance `PLANGATE_E_PLAN`."""

    def __init__(self, told: Dict[str, Any]) -> None:
        self.message: str = told.get("message") or self.code
        self.help: Optional[str] = told.get("help")
        self.diagnostics: List[Diagnostic] = diagnostics(told)
        self.rendered: str = told.get("rendered") or ""
        """The diagnostics of a recipe as a terminal shows them, with carets."""
        self.details: Dict[str, Any] = told.get("details") or {}
        super().__init__(self.message)

    def __str__(self) -> str:
        text = self.rendered.rstrip() or self.message
        return f"{text}\nhelp: {self.help}" if self.help and not self.rendered else text


class ArgumentError(Error, ValueError):
    """An argument that cannot be used: inputs that do not fit, a person without a name."""

    code = "PLANGATE_E_ARGUMENT"


class PlanError(Error, ValueError):
    """A recipe, plan, catalog or policy that is refused."""

    code = "PLANGATE_E_PLAN"


class StoreError(Error):
    """The store cannot be used."""

    code = "PLANGATE_E_STORE"


class NotFound(Error, LookupError):
    """No such run or approval."""

    code = "PLANGATE_E_NOT_FOUND"


class Decided(Error):
    """Decided already: `details` says by whom, when and what."""

    code = "PLANGATE_E_DECIDED"


class Expired(Error):
    """Its time was over; nothing was run."""

    code = "PLANGATE_E_EXPIRED"


class Busy(Error):
    """Another drives this run, and will take up what was decided."""

    code = "PLANGATE_E_BUSY"


class Changed(Error):
    """The digest is not that of the stored call."""

    code = "PLANGATE_E_CHANGED"


class NotAllowed(Error, PermissionError):
    """This person may not decide this, or it is not in a state that allows it."""

    code = "PLANGATE_E_NOT_ALLOWED"


class Cancelled(Error):
    """The run was cancelled."""

    code = "PLANGATE_E_CANCELLED"


class InFlight(Error):
    """It cannot be settled yet: the call may still be under way."""

    code = "PLANGATE_E_IN_FLIGHT"


class LeaseLost(Error):
    """Another took the run over; nothing more was started here."""

    code = "PLANGATE_E_LEASE_LOST"


class Attention(Error):
    """The stored plan no longer passes: the message says what changed."""

    code = "PLANGATE_E_ATTENTION"


class Fault(Error):
    """A fault in the library."""

    code = "PLANGATE_E_PANIC"


class ToolFailed(Exception):
    """Raise it in a tool to say that the call failed. Any other exception leaves a call that changes something uncertain:
    nobody knows whether it happened, and a person settles it."""


class NotSent(Exception):
    """Raise it in a tool to say that nothing was sent."""


_KINDS = {kind.code: kind for kind in Error.__subclasses__()}


def error_of(code: str, told: Dict[str, Any]) -> Error:
    """The exception of a status."""
    kind = _KINDS.get(code)
    if kind is None:
        kind = type("Error", (Error,), {"code": code})
    return kind(told)


def diagnostics(told: Dict[str, Any]) -> List[Diagnostic]:
    """What stands under `related`."""
    names = Diagnostic.__dataclass_fields__
    return [Diagnostic(**{k: v for k, v in one.items() if k in names}) for one in told.get("related") or []]
