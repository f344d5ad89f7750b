"""`Operation`: the declaration of one kind of request, and what several declarations share."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from treaty.core.access import permissions
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.names import Subject
from treaty.core.requests import Request
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View
from treaty.light_dataclass import dataclass

R = TypeVar("R", bound=Request[Any])
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class SubjectMember(Generic[R]):
    """The subject of a request that may be an alias, and a function that replaces it."""

    find: Callable[[R], Subject | None]
    replace: Callable[[R, Subject], R]


@dataclass(frozen=True, slots=True)
class Operation(Generic[R, A]):
    """The declaration of a kind of request: name, handler, permissions, and the storage of its outcome."""

    name: str
    """The name in logs, between nodes and in the audit log. A class may be renamed, a name never."""
    request: type[R]
    answer: type[A]
    handler: Callable[[View, Command[R], SchemaEngine], Decision[A] | PausingWork[Decision[A]]]
    permissions: Callable[[R], permissions.Required]
    limits: tuple[str, ...] = ()
    """Names of limits (`treaty.core.limits`) that it may exceed."""
    writes: bool = False
    answer_name: str = ""
    """The kind of the answer in the stored outcome of one that writes. It never changes."""
    immutable: bool = False
    """Whether its answer is immutable, so that it needs no read barrier: a schema by id or guid. A version number may
    mean another schema later, by an alias or after a permanent deletion. "Not found" always needs a read barrier.
    """
    alias: SubjectMember[R] | None = None
    """The subject that is resolved if it is an alias. None for settings, which apply to the alias itself."""
    is_idempotent: Callable[[R], bool] = lambda _request: False
    """Whether a repeated write has the same answer; others are refused the second time."""
    pauses: bool = False
    """Whether its handler is a generator that pauses, because it may read very many rows."""
    waits: Callable[[R, A], float] | None = None
    """For a query that may wait for a later state: the seconds for which the caller waits where this is its answer, 0 for none."""
    query_before: Callable[[R], Request[Any]] | None = None
    """The query for the value that it changes."""
    sign: Callable[[R, str], R] | None = None
    """Returns the request with this principal as the one who skips the policy."""


# ----------------------------------------------------------------------------------------------------------- aliases


def _subject_unless_exact(request: Any) -> Subject | None:
    subject: Subject | None = None if request.exact else request.subject
    return subject


def _with_subject(request: Any, subject: Subject) -> Any:
    return replace(request, subject=subject)


SUBJECT: SubjectMember[Any] = SubjectMember(lambda request: request.subject, _with_subject)
SUBJECT_UNLESS_EXACT: SubjectMember[Any] = SubjectMember(_subject_unless_exact, _with_subject)


# ------------------------------------------------------------------------------------------------ shared by several


def is_always(_request: object) -> bool:
    """Return True: a repetition of this write has the same answer."""
    return True


DRAFT_LIMITS = ("SCHEMA_BYTES", "OPAQUE_BYTES", "REFERENCES", "REFERENCE_DEPTH")
VERSION_LIMITS = (
    *DRAFT_LIMITS, "RULES", "RULE_NAME", "TAGGED", "NAME_LENGTH", "SCHEMAS_PER_CONTEXT", "VERSIONS_PER_SUBJECT",
    "VERSIONS_KEPT_PER_SUBJECT", "COUNTER", "NAMES_PER_VERSION", "SCHEME_LENGTH", "VERSIONS_PER_NAME",
)  # fmt: skip
REGISTER_LIMITS = (
    *VERSION_LIMITS, "CONTEXTS", "SUBJECTS_PER_CONTEXT", "ID_GAP", "TIME_AHEAD", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS",
    "ID_SCHEMES",
)  # fmt: skip
"""Limits of a request that carries a schema, of one that makes a version, and of one that may make a subject."""
