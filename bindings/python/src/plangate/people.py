"""Who starts runs and decides."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Tuple, Union


@dataclass(frozen=True)
class Person:
    """Somebody, as the host names them. `verified` says that the host knows who it is."""

    subject: str
    issuer: str = "host"
    roles: Tuple[str, ...] = ()
    verified: bool = False

    def to_json(self) -> str:
        told: Dict[str, Any] = {"issuer": self.issuer, "subject": self.subject}
        return json.dumps({**told, "roles": list(self.roles), "verified": self.verified})


def person(by: Union[Person, str]) -> Person:
    """A person; a name alone is one that nobody verified."""
    return by if isinstance(by, Person) else Person(by)
