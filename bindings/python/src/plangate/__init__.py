"""Recipes compiled to plans that stop at every effect until somebody approves it.

    plan = plangate.compile(recipe, catalog=catalog)
    print(plan)                                    # the card: what it does, and where it stops
    with plangate.Store("runs.db") as store:
        run = store.run(plan, tools={"bank.send_payment": send_payment})
        if run.parked:                             # stored; this process may end
            for approval in run.approvals():
                approval.approve(by="ann")         # in any process
            run = store.resume(run, tools={"bank.send_payment": send_payment})
"""

from ._library import version
from .calls import Call, Happened, Missing, Uncertain, current_call
from .errors import (
    ArgumentError,
    Attention,
    Busy,
    Cancelled,
    Changed,
    Decided,
    Diagnostic,
    Error,
    Expired,
    Fault,
    InFlight,
    LeaseLost,
    NotAllowed,
    NotFound,
    NotSent,
    PlanError,
    StoreError,
    ToolFailed,
)
from .people import Person
from .plan import Plan, compile, load
from .store import Approval, Run, Store

__all__ = [
    "Approval",
    "ArgumentError",
    "Attention",
    "Busy",
    "Call",
    "Cancelled",
    "Changed",
    "Decided",
    "Diagnostic",
    "Error",
    "Expired",
    "Fault",
    "Happened",
    "InFlight",
    "LeaseLost",
    "Missing",
    "NotAllowed",
    "NotFound",
    "NotSent",
    "Person",
    "Plan",
    "PlanError",
    "Run",
    "Store",
    "StoreError",
    "ToolFailed",
    "Uncertain",
    "compile",
    "current_call",
    "load",
    "version",
]
