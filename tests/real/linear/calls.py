"""Operations that clients try on a subject, chosen by chance, and what carries them out."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.real.linear import statements
from treaty.client.connection import Connection
from treaty.core.messages import encodings as e
from treaty.core.messages.groups import (
    ChangeSubject,
    CreateSubject,
    DeleteOrdinal,
    GetOrdinal,
    GetSubject,
    GroupSettings,
    RemoveSubject,
)
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.policy import LEVELS, word_of
from treaty.core.refusals import Refusal
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft

OFTEN: Mapping[str, int] = {
    "register": 10,
    "versions": 3,
    "latest": 4,
    "numbered": 2,
    "lookup": 2,
    "listed": 2,
    "check": 1,
    "level": 1,
    "delete": 4,
    "purge": 2,
    "delete_all": 1,
    "purge_all": 1,
    "set_level": 1,
    "unset_level": 1,
    "create": 2,
    "group": 2,
    "remove": 1,
    "change_level": 3,
    "add": 4,
    "ordinal": 2,
    "delete_ordinal": 2,
    "add_codec": 2,
    "codecs": 1,
    "encode": 6,
    "encoding": 3,
}
"""How often each operation is chosen, as shares."""
WORDS = ("NONE", "BACKWARD", "FULL_TRANSITIVE")
"""Levels that are set."""
CODECS = ("gzip", "own")
LATEST = CallOptions(consistency="latest")
TEXTS = 5
"""Different schemas; few, so that clients collide."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation on a subject: its name, its argument (None where it takes none), and what carries it out."""

    name: str
    argument: Any
    call: Callable[[], Any]


Ids = dict[int, set[str]]
"""Schema ids that were told, and the texts that they were told for."""


def chosen(registry: Connection, subject: str, chance: random.Random, ids: Ids) -> Asked:
    """Choose an operation."""
    if statements.is_statement(subject):
        return Asked(*statements.chosen(registry, subject, chance))
    name = chance.choices([*OFTEN], [*OFTEN.values()])[0]
    return asked(registry, subject, name, _argument(name, chance), ids)


def _argument(name: str, chance: random.Random) -> Any:
    if name in {"register", "lookup", "check", "add"}:
        return text_of(chance.randint(1, TEXTS))
    if name in {"delete", "purge", "numbered"}:
        return chance.randint(1, 6)
    if name in {"ordinal", "delete_ordinal", "encoding"}:
        return _low(chance)
    if name in {"add_codec", "encode"}:
        codec = chance.choice(CODECS)
        return codec if name == "add_codec" else [_low(chance), chance.choice(["", codec])]
    if name == "change_level":
        return chance.sample(WORDS, 2)
    return chance.choice(WORDS) if name == "set_level" else None


def _low(chance: random.Random) -> int:
    """Choose an ordinal or an encoding id, mostly one of the first."""
    return min(chance.randint(0, 4), chance.randint(0, 4))


def asked(registry: Connection, subject: str, name: str, argument: Any, ids: Ids) -> Asked:
    """Return an operation by its name, which notes the ids that it is told. What memory would answer is asked with a look."""
    if statements.is_statement(subject):
        return Asked(*statements.asked(registry, subject, name, argument))
    of_subject: Mapping[str, Callable[[], Any]] = {
        "register": lambda: _registered(registry, subject, argument, ids),
        "versions": lambda: list(registry.versions(subject)),
        "latest": lambda: _pair(registry, subject),
        "numbered": lambda: _numbered(registry, subject, argument),
        "lookup": lambda: registry.lookup(subject, argument).number,
        "listed": lambda: subject in registry.subjects(subject),
        "check": lambda: registry.check(subject, argument).compatible,
        "level": lambda: registry.config(subject, resolve=False).level,
        "delete": lambda: registry.delete_version(subject, argument)[0],
        "purge": lambda: registry.delete_version(subject, argument, permanent=True)[0],
        "delete_all": lambda: list(registry.delete_subject(subject)),
        "purge_all": lambda: list(registry.delete_subject(subject, permanent=True)),
        "set_level": lambda: registry.set_level(subject, argument).level,
        "unset_level": lambda: registry.delete_config(subject).level,
        **_of_groups(registry, Subject(".", subject), argument),
        **_of_encodings(registry, Subject(".", subject), argument),
        "add": lambda: _added(registry, Subject(".", subject), argument, ids),
    }
    return Asked(name, argument, of_subject[name])


def _of_groups(registry: Connection, subject: Subject, argument: Any) -> Mapping[str, Callable[[], Any]]:
    """Return what is done with a subject as a group: it is made without a version, and removed with all that it has."""
    return {
        "create": lambda: registry.ask(CreateSubject(subject, GroupSettings("treaty"))).answer.created,
        "group": lambda: word_of(registry.ask(GetSubject(subject)).answer.level),
        "remove": lambda: registry.ask(RemoveSubject(subject)).answer.removed,
        "change_level": lambda: _changed(registry, subject, *argument),
        "ordinal": lambda: _with_ordinal(registry, GetOrdinal(subject, argument)),
        "delete_ordinal": lambda: registry.ask(DeleteOrdinal(subject, argument)).answer.deleted,
    }


def _of_encodings(registry: Connection, subject: Subject, argument: Any) -> Mapping[str, Callable[[], Any]]:
    """Return what is done with codecs and encoding ids of a subject."""
    return {
        "add_codec": lambda: registry.ask(e.AddCodec(subject, e.CodecType(argument))).answer.created,
        "codecs": lambda: [one.name for one in registry.ask(e.ListCodecs(subject), LATEST).answer.codecs],
        "encode": lambda: registry.ask(e.AssignEncoding(subject, *argument)).answer.encoding_id,
        "encoding": lambda: _encoding(registry, e.GetEncoding(subject, argument)),
    }


def _encoding(registry: Connection, request: e.GetEncoding) -> list[object]:
    found = registry.ask(request, LATEST).answer
    return [found.version.ordinal, _shown(found.version.text), found.codec.name]


def _with_ordinal(registry: Connection, request: GetOrdinal) -> list[object]:
    found = registry.ask(request, LATEST).answer
    return [_shown(found.text), not found.deleted]


def _added(registry: Connection, subject: Subject, text: str, ids: Ids) -> int:
    """Register in a group, which must be there, as Pravega's API does."""
    request: Request[Any] = Register(subject, Draft(text), require_subject=True)
    version = registry.ask(request).answer.version
    ids.setdefault(version.schema_id, set()).add(text)
    ordinal: int = version.ordinal
    return ordinal


def _changed(registry: Connection, subject: Subject, previous: str, level: str) -> str:
    return word_of(registry.ask(ChangeSubject(subject, LEVELS[level], LEVELS[previous])).answer.group.level)


def result_of(call: Callable[[], Any]) -> Any:
    """What a call came to: its answer, or the name of the refusal. What is no answer is raised."""
    try:
        return call()
    except Refusal as no:
        return type(no).__name__


def text_of(size: int) -> str:
    """A schema; two of different sizes are incompatible."""
    return json.dumps({"type": "fixed", "name": "F", "size": size}, separators=(",", ":"))


def _shown(text: str) -> str:
    return text_of(json.loads(text)["size"])


def _registered(registry: Connection, subject: str, text: str, ids: Ids) -> int:
    version = registry.register(subject, text).version
    ids.setdefault(version.schema_id, set()).add(text)
    return version.number


def _pair(registry: Connection, subject: str) -> list[object]:
    found = registry.version(subject)
    return [found.number, _shown(found.text)]


def _numbered(registry: Connection, subject: str, number: int) -> str:
    reply = registry.ask(GetVersion(Subject(".", subject), number), LATEST)
    return _shown(reply.answer.text)
