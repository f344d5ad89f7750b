"""The requests that list subjects, their version numbers and their versions, also deleted ones: their members, defaults and answers; decided in
`listings.py` and `queries.py` of `core/handlers`.
"""

from treaty.core.limits import COUNTER
from treaty.core.messages.associations import ResourceAssociation
from treaty.core.messages.request import Request, Visible
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.light_dataclass import dataclass

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Subjects:
    """Qualified names, sorted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionNumbers:
    """Version numbers, ascending; `deleted` are the soft-deleted ones among them."""

    numbers: tuple[int, ...]
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions, by subject and number, with aliases and associations of their subjects if requested."""

    versions: tuple[VersionFound, ...]
    aliases: tuple[tuple[str, ...], ...] = ()
    associations: tuple[tuple[ResourceAssociation, ...], ...] = ()


# ------------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class ListSubjects(Request[Subjects]):
    """Subjects whose names begin with `prefix`; context ``*`` means all contexts.

    `after` is the last name of the previous page and takes precedence over `offset`, which is for registries without
    it.
    """

    prefix: Subject = Subject("*", "")
    visible: Visible = "live"
    offset: int = 0
    limit: int = COUNTER
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ListVersions(Request[VersionNumbers]):
    """Version numbers of a subject, ascending; never empty (an empty list is a `SubjectNotFound`)."""

    subject: Subject
    visible: Visible = "live"


@dataclass(frozen=True, slots=True)
class ListSchemas(Request[Versions]):
    """Versions of all subjects that begin with `prefix`, by subject and number; `latest` keeps only the newest.

    `after` is (subject, number) of the last version of the previous page and takes precedence over `offset`.
    `rule_type` selects versions with a rule of this type. `resource_type`, `kinds` and `lifecycles` select subjects
    with such an association, the lifecycle NONE those without one; with any of them the answer has associations.
    """

    prefix: Subject = Subject(".", "")
    visible: Visible = "live"
    latest: bool = False
    offset: int = 0
    limit: int = 1000
    after: tuple[str, int] | None = None
    aliases: bool = False
    """Include the aliases of each subject."""
    rule_type: str = ""
    resource_type: str = ""
    kinds: tuple[str, ...] = ()
    lifecycles: tuple[str, ...] = ()
