"""The answer of a request that assesses a change of a source: what it does to its query, to those who read it, and to its schema; decided in
`core/handlers/metastore/checkpoints/assessment.py`.
"""

from typing import Literal

from treaty.light_dataclass import dataclass

ChangeKind = Literal["new", "same", "compatible", "source change", "stateful change"]
"""What a new definition is to the one that is there.

"new": nothing is there. "same": nothing changes. "compatible": the query continues from its checkpoint. "source change": it reads the
changes of other sources than its checkpoint has offsets of. "stateful change": its state is made in another way.
"""


@dataclass(frozen=True, slots=True)
class LostColumn:
    """A column that readers need and that a change takes away or gives another type.

    `readers` are the names that the caller may see, and `hidden` counts the others. `new` is empty for a column that goes.
    """

    column: str
    old: str
    new: str = ""
    readers: tuple[str, ...] = ()
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ChangeAssessment:
    """What a change does, with the reasons in words. `policy` says what the policies of its schemas say, and is empty without a schema.

    `ways` are what can be done instead of refusing a source change or a stateful one; `refused` says whether it is refused as it stands.
    """

    kind: ChangeKind
    reasons: tuple[str, ...] = ()
    lost: tuple[LostColumn, ...] = ()
    policy: str = ""
    ways: tuple[str, ...] = ()
    refused: bool = False
