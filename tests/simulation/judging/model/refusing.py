"""How the model says no: the class and the rule of the refusal that it expects, and the facts that it is sure of."""

import re

from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.versions import DeletedVersions
from treaty.core.refusals import Refusal

STORED_NAMES: dict[type, str] = {RegisteredVersion: "registered", DeletedVersions: "deleted"}
"""Names of answers in outcomes, where they are not those of their classes."""


def tag_of(kind: type) -> str:
    """The word that stands for a class in logs, between nodes and in refusals."""
    return STORED_NAMES.get(kind) or re.sub("(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


class No(Exception):
    """The model refuses. `facts` are members of the reason by name; what is not named is not judged."""

    def __init__(self, kind: type[Refusal], rule: str, **facts: object) -> None:
        super().__init__(rule)
        self.kind = kind
        self.rule = rule
        self.facts = facts

    def __repr__(self) -> str:
        return f"{self.kind.__name__} {self.rule} {self.facts}"

    def fits(self, told: Refusal) -> bool:
        """Whether a refusal is this one."""
        return (
            type(told) is self.kind
            and told.reason.rule == self.rule
            and all(getattr(told.reason, name) == value for name, value in self.facts.items())
        )
