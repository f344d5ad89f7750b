"""Benches with subjects as groups, and drafts for them."""

from dataclasses import replace

from tests.laws.begun import begun
from tests.laws.toy import Bench
from treaty.core.messages.groups import CreateSubject, GetSubject, GroupFound, GroupSettings
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Draft

S = Subject(".", "s")
SPELLINGS = ('["a","b"]', '[ "a", "b" ]', '["b","a"]')
"""The canonical text, the same with blanks, and another one with the same normal form."""


PRAVEGA = GroupSettings("pravega", types="many", identity="normalised")


def create(bench: Bench, subject: Subject = S, **members: object) -> GroupFound:
    """Create a subject as Pravega's registry does."""
    return bench.do(CreateSubject(subject, replace(PRAVEGA, **members))).group  # type: ignore[arg-type]


def get(bench: Bench, subject: Subject = S) -> GroupFound:
    return bench.do(GetSubject(subject))


def group(subject: Subject = S, **members: object) -> Bench:
    """A bench with a subject that takes any schema, in a registry in which others have been at work."""
    bench = begun()
    add_group(bench, subject, **members)
    return bench


def add_group(bench: Bench, subject: Subject, **members: object) -> None:
    settings: GroupSettings = replace(GroupSettings("pravega", policy=Config(level="NONE")), **members)  # type: ignore[arg-type]
    bench.do(CreateSubject(subject, settings))


def spelled(text: str, **members: object) -> Draft:
    return replace(Draft(text, "TOY"), **members)  # type: ignore[arg-type]


def add(bench: Bench, draft: Draft, subject: Subject = S) -> VersionFound:
    """Register as a door of groups does."""
    return bench.do(Register(subject, draft, create_with=SubjectCreation("pravega"), require_subject=True)).version
