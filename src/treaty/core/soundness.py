"""Soundness: what the rows of a sound log have in common, checked row by row. Every line of it is a law of `decide`."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treaty.core import values
from treaty.core.counters import KINDS_FOR_EVER, KINDS_OF_SUBJECT, ids_key, ordinals_key, types_key
from treaty.core.identity import guid
from treaty.core.law.references import is_used
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.policy import RANGES
from treaty.core.rows import Key
from treaty.core.schema import Reference
from treaty.core.view import Tables, View

SHOWN = frozenset({"live", "soft"})
"""States of versions that have a number of their own."""


@dataclass(frozen=True, slots=True)
class Unsound:
    """A row that breaks a law: which law, which row, and what is wrong."""

    rule: str
    table: str
    key: Key
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.table} {list(self.key)}: {self.message}"


def unsound(tables: Tables) -> Iterator[Unsound]:
    """Name the rows that break a law, rows that can't be read among them. Nothing means that all laws hold."""
    for (table, key), why in tables.quarantine.items():
        yield Unsound("UNREADABLE", table, key, why)
    for table, check in CHECKS:
        for key in sorted(tables.keys(table), key=str):
            yield from check(tables, key)


def _version(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("version", key)
    if not isinstance(value, values.Version):
        return
    context, name, generation, ordinal = key

    def wrong(rule: str, message: str) -> Unsound:
        return Unsound(rule, "version", key, message)

    yield from _generation(view, "version", key, 0)
    if view.get("schema", (context, value.schema_id)) is None and value.state != "purged":
        yield wrong("SCHEMA_MISSING", f"schema {value.schema_id} is not in context {context}")
    if value.content and view.get("content", (value.content,)) is None:
        yield wrong("CONTENT_MISSING", f"the bytes {value.content} are not there")
    if _highest(view, ordinals_key(Subject(str(context), str(name)), int(generation))) < int(ordinal):
        yield wrong("COUNTER_BEHIND", "the counter of ordinals is behind it")
    types = types_key(Subject(str(context), str(name)), int(generation), value.format, value.type_name)
    if _highest(view, types) < value.type_version:
        yield wrong("COUNTER_BEHIND", "the counter of its format and type is behind it")
    if value.state not in {*SHOWN, "hidden", "purged"}:
        yield wrong("STATE_UNKNOWN", f"state {value.state!r}")
    if value.state in SHOWN:
        place: Key = (context, name, value.number)
        walks = (view.walk("version.number", (state, *place), (state, *place, *key[2:])) for state in SHOWN)
        if any(any(others) for others in walks):
            yield wrong("NUMBER_TWICE", f"another version has the number {value.number}")


def _generation(view: View, table: str, key: Key, at: int) -> Iterator[Unsound]:
    """Whether a row is its subject's; `at` is where in its key context, subject and generation stand."""
    context, name, generation = key[at : at + 3]
    there = view.get("subject", (context, name))
    if there is None:
        yield Unsound("SUBJECT_MISSING", table, key, "its subject has no row")
    elif isinstance(there, values.Subject) and there.generation != generation:
        yield Unsound(
            "GENERATION_WRONG", table, key, f"it is of generation {generation}, its subject of {there.generation}"
        )


def _schema(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("schema", key)
    if not isinstance(value, values.Schema):
        return
    context, schema_id = key

    def wrong(rule: str, message: str) -> Unsound:
        return Unsound(rule, "schema", key, message)

    counter = view.get("counter", ids_key(str(context)))
    reserved = counter.reserved if isinstance(counter, values.Counter) else ()
    if _highest(view, ids_key(str(context))) < int(schema_id) and not any(
        low <= int(schema_id) <= high for low, high in reserved
    ):
        yield wrong("COUNTER_BEHIND", "the counter of ids is behind it")
    if context != DEFAULT_CONTEXT and view.get("context", (context,)) is None:
        yield wrong("CONTEXT_MISSING", f"context {context} has no row")
    if not is_used(view, key):
        yield wrong("SCHEMA_UNUSED", "no version has it")
    sent = tuple(Reference(one.name, one.subject, one.version) for one in value.references)
    told = guid(value.text, sent, value.metadata, value.rules)
    if told != value.guid and (value.metadata is None or not value.metadata.sealed):  # a guid covers plain values
        yield wrong("GUID_WRONG", f"its content has the guid {told}, not {value.guid}")
    for one in value.references:
        target = Subject(str(context), "").sibling(one.subject)
        if view.get("schema", (target.context, one.schema_id)) is None:
            yield wrong("REFERENCE_DANGLING", f"{one.name}: {target} version {one.version} (id {one.schema_id})")


def _content(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("content", key)
    if not isinstance(value, values.Content):
        return
    if hashlib.sha256(value.data).hexdigest() != key[0]:
        yield Unsound("CONTENT_WRONG", "content", key, "the bytes have another digest")
    if not any(view.find("version.content", key)):
        yield Unsound("CONTENT_UNUSED", "content", key, "no version has it")


def _name(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("name", key)
    if not isinstance(value, values.Name):
        return
    yield from _generation(view, "name", key, 0)
    if view.get("version", (*key[:3], value.ordinal)) is None:
        yield Unsound("VERSION_MISSING", "name", key, f"there is no version with the ordinal {value.ordinal}")


def _encoding(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("encoding", key)
    if not isinstance(value, values.Encoding):
        return
    if view.get("version", (*key[:2], value.generation, value.ordinal)) is None:
        yield Unsound("VERSION_MISSING", "encoding", key, f"there is no version with the ordinal {value.ordinal}")


def _counter(view: View, key: Key) -> Iterator[Unsound]:
    if not isinstance(view.get("counter", key), values.Counter):
        return
    kind, generation = key[0], key[3]
    if kind in KINDS_OF_SUBJECT:
        yield from _generation(view, "counter", key, 1)
    elif kind in KINDS_FOR_EVER and generation:
        yield Unsound("GENERATION_WRONG", "counter", key, f"it is of generation {generation}, and counts for all")


def _subject(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("subject", key)
    if isinstance(value, values.Subject) and value.generation > view.sequence and not _moved_here(view):
        yield Unsound("GENERATION_AHEAD", "subject", key, f"made at sequence {value.generation}, which is to come")


def _outcome(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("outcome", key)
    if not isinstance(value, values.Outcome) or _moved_here(view):
        return
    if value.sequence > view.sequence:
        yield Unsound("OUTCOME_AHEAD", "outcome", key, f"of sequence {value.sequence}, which is to come")


def _association(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("association", key)
    if not isinstance(value, values.Association):
        return

    def wrong(rule: str, message: str) -> Unsound:
        return Unsound(rule, "association", key, message)

    resource_id, kind, subject = key
    if (kind, subject) != (value.kind, value.subject):
        yield wrong("ASSOCIATION_KEY", f"its value is about the {value.kind} and subject {value.subject}")
    if value.frozen and value.lifecycle != "STRONG":
        yield wrong("ASSOCIATION_FROZEN", "it is frozen and not strong")
    context, name = subject_of(value.subject)
    versions = (view.get("version", one) for one in view.find("version.subject", (context, name)))
    if not any(isinstance(one, values.Version) and one.state == "live" for one in versions):
        yield wrong("ASSOCIATION_DANGLING", f"subject {value.subject} has no live version")
    if value.lifecycle == "STRONG" and len([*view.find("association.subject", (context, name))]) > 1:
        yield wrong("ASSOCIATION_SHARED", f"it is strong, and subject {value.subject} has others")
    for other in view.find("association.name", (value.namespace, value.resource)):
        if other < key and (other[0] != resource_id or other[1] == kind):
            yield wrong("ASSOCIATION_TWICE", f"{value.resource} in {value.namespace} has {list(other)} too")


def _config(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("config", key)
    if not isinstance(value, values.ConfigValue) or value.level is None:
        return
    for name, one in (("backward", value.level.backward), ("forward", value.level.forward)):
        if one.kind not in RANGES:
            yield Unsound("RANGE_UNKNOWN", "config", key, f"its {name} range is {one.kind!r}")
        if one.kind == "till" and key[0] != "subject":
            yield Unsound("RANGE_TILL", "config", key, f"its {name} range begins at a version, and it is of no subject")


def _fold(view: View, key: Key) -> Iterator[Unsound]:
    value = view.get("snapshot", key)
    if isinstance(value, values.SnapshotPointer) and value.sequence >= view.sequence and not _moved_here(view):
        yield Unsound(
            "SNAPSHOT_AHEAD", "snapshot", key, f"it holds the state at sequence {value.sequence}, which is to come"
        )


def _moved_here(view: View) -> bool:
    """Whether rows may speak of sequences of another log."""
    return view.get("log_origin", ("origin",)) is not None


def _highest(view: View, key: Key) -> int:
    value = view.get("counter", key)
    return value.highest if isinstance(value, values.Counter) else -1


CHECKS: tuple[tuple[str, Callable[[View, Key], Iterator[Unsound]]], ...] = (
    ("version", _version),
    ("schema", _schema),
    ("content", _content),
    ("name", _name),
    ("encoding", _encoding),
    ("counter", _counter),
    ("subject", _subject),
    ("association", _association),
    ("config", _config),
    ("outcome", _outcome),
    ("snapshot", _fold),
)
"""Each table that has laws of its own, and its check."""
