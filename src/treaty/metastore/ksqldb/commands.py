"""Records of ksqlDB's command topic replayed: the sources, types and queries that are left after drops and TERMINATE, and which records
are passed over, with a reason.

The key of a record is the JSON text ``type/entity/action``, a label. The value is JSON: ``statement``, in later versions a ``plan``
with a ``ddlCommand`` and a ``queryPlan``, and a ``version``, which is at most 18. A plan has the resolved columns; a CREATE, DROP or
ALTER of an old version has none, and is read as it stands.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treaty.metastore.ksqldb.plain import PlainStatementError, read_plain

VERSIONS = 18
"""The newest version of a command that is known."""
STREAM, TABLE = "STREAM", "TABLE"
_CREATES: Mapping[str, str] = {"createStreamV1": STREAM, "createTableV1": TABLE}
_OF_FORMATS: Mapping[str, str] = {
    "fullSchemaName": "SCHEMA_FULL_NAME",
    "nullableRepresentation": "PROTOBUF_NULLABLE_REPRESENTATION",
}
"""Members of a format's properties, and the ends of the names of the properties that say them here."""
_WORDS = re.compile(r"(TERMINATE|PAUSE|RESUME)\s+([\w`]+)", re.IGNORECASE)
_INSERT = re.compile(r"\s*INSERT\s+INTO\s+(`[^`]+`|\w+)", re.IGNORECASE)


class DamagedCommandError(ValueError):
    """A record that is no command; the sentence says why."""


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A record of a command topic: its offset, or its line in a backup file, and its bytes."""

    place: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class KsqlSource:
    """A stream or table as ksqlDB has it; `columns` is the text of its schema, `query` that of the statement that writes it."""

    kind: str
    name: str
    columns: str = ""
    topic: str = ""
    key_format: str = ""
    value_format: str = ""
    timestamp: str = ""
    windowed: bool = False
    infers_key: bool = False
    """Whether a key without columns is that of the topic's schema, as of a statement without a plan."""
    properties: tuple[tuple[str, str], ...] = ()
    """Other properties of its statement, by the names that they have here."""
    schema_ids: tuple[tuple[str, str], ...] = ()
    """Properties that name a schema of a half of a record by its id, and the id."""
    statement: str = ""
    query: str = ""
    query_id: str = ""


@dataclass(frozen=True, slots=True)
class PassedRecord:
    """A record that was passed over, and why."""

    place: int
    key: str
    reason: str


@dataclass(slots=True)
class CommandState:
    """What the commands so far come to."""

    sources: dict[str, KsqlSource] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    """Kinds of what was dropped and is not there any more, by name."""
    inserts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """INSERT INTO queries by id: the source that they write, and their text."""
    plain: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Statements without a plan that come to nothing here, and why, by the name of their source."""
    passed: list[PassedRecord] = field(default_factory=list)
    count: int = 0

    def take(self, record: CommandRecord) -> None:
        """Take a record; one that is damaged is noted and passed over."""
        self.count += 1
        key = "" if record.key is None else record.key.decode("utf-8", "replace").strip('"')
        try:
            self._take(key, read_command(record))
        except DamagedCommandError as damaged:
            self.passed.append(PassedRecord(record.place, key, str(damaged)))

    def _take(self, key: str, command: Mapping[str, Any]) -> None:
        plan = command.get("plan")
        statement = str(command.get("statement", "")).strip()
        if isinstance(plan, Mapping):
            self._take_plan(plan, statement)
        elif match := _WORDS.match(statement):
            if match[1].upper() == "TERMINATE":
                self._end_query(_strip_quotes(match[2]))
        elif re.match(r"\s*(CREATE|DROP|ALTER)\b", statement, re.IGNORECASE):
            self._take_plain(statement)
        else:
            raise DamagedCommandError(
                f"there is neither a plan nor a statement that is known: {statement[:80]!r} ({key})"
            )

    def _take_plain(self, statement: str) -> None:
        try:
            command = read_plain(statement)
        except PlainStatementError as error:
            self.plain[error.name or statement] = (statement, str(error))
        else:
            self._take_ddl(command, statement)

    def _take_plan(self, plan: Mapping[str, Any], statement: str) -> None:
        text = str(plan.get("statementText") or statement)
        ddl, query = plan.get("ddlCommand"), plan.get("queryPlan")
        if isinstance(ddl, Mapping):
            self._take_ddl(ddl, text)
        if isinstance(query, Mapping):
            sink, query_id = _strip_quotes(str(query.get("sink") or "")), str(query.get("queryId") or "")
            if sink in self.sources and isinstance(ddl, Mapping):
                self.sources[sink] = replace(self.sources[sink], query=text, query_id=query_id)
            else:
                self.inserts[query_id] = (sink, text)

    def _take_ddl(self, ddl: Mapping[str, Any], text: str) -> None:
        kind = str(ddl.get("@type", ""))
        match kind:
            case "createStreamV1" | "createTableV1":
                source = _read_source(_CREATES[kind], ddl, text)
                if ddl.get("ifNotExists") and source.name in self.sources:
                    return
                self.sources[source.name] = source
                self.plain.pop(source.name, None)
                self.gone.pop(source.name, None)
            case "registerTypeV1":
                name = str(_need(ddl, "typeName"))
                self.types[name] = str(_need(ddl, "type"))
                self.gone.pop(name, None)
            case "dropTypeV1":
                name = str(_need(ddl, "typeName"))
                self.types.pop(name, None)
                self.gone[name] = "TYPE"
            case "dropSourceV1":
                self._drop(_strip_quotes(str(_need(ddl, "sourceName"))))
            case "alterSourceV1":
                self._alter(_strip_quotes(str(_need(ddl, "sourceName"))), _need(ddl, "newColumns"))
            case _:
                raise DamagedCommandError(f"the plan has a command {kind!r}, which is not known")

    def _drop(self, name: str) -> None:
        source = self.sources.pop(name, None)
        self.plain.pop(name, None)
        self.gone[name] = source.kind if source else STREAM
        self.inserts = {one: found for one, found in self.inserts.items() if found[0] != name}

    def _alter(self, name: str, columns: Any) -> None:
        source = self.sources.get(name)
        if source is None:
            raise DamagedCommandError(f"ALTER of {name}, which is not there")
        words = [_column_text(one) for one in columns] if isinstance(columns, list) else [str(columns)]
        self.sources[name] = replace(source, columns=", ".join(filter(None, [source.columns, *words])))

    def _end_query(self, query_id: str) -> None:
        """End a query, or all of them: those that fill a source, and INSERT INTO."""
        word = query_id.upper()
        self.inserts = {key: found for key, found in self.inserts.items() if word not in {key.upper(), "ALL"}}
        for name, source in self.sources.items():
            if word in {source.query_id.upper(), "ALL"} and source.query:
                self.sources[name] = replace(source, query="", query_id="")


def read_command(record: CommandRecord) -> Mapping[str, Any]:
    """Return the members of a command. Raises `DamagedCommandError`."""
    if record.value is None:
        raise DamagedCommandError("it has no value")
    try:
        command = json.loads(record.value)
        json.dumps(command, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise DamagedCommandError(f"its value is no JSON: {error}") from error
    if not isinstance(command, dict) or not isinstance(command.get("statement", ""), str):
        raise DamagedCommandError("its value is no command: an object with a statement is expected")
    version = command.get("version")
    if version is not None and (type(version) is not int or not 0 <= version <= VERSIONS):
        raise DamagedCommandError(f"it has version {version}, and known are 1 to {VERSIONS}; upgrade Treaty")
    return command


def read_backup(path: Path) -> Iterator[CommandRecord]:
    """Yield the records of ksqlDB's backup file: a line each, key and value with a colon between. Raises `OSError`."""
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\n")
            if not text.strip():
                continue
            try:
                key, end = decoder.raw_decode(text)
                value = text[end:].lstrip().removeprefix(":").lstrip()
            except (ValueError, RecursionError):
                key, value = "", text
            yield CommandRecord(number, str(key).encode("utf-8", "replace"), value.encode())


def take_all(records: Iterable[CommandRecord], state: CommandState | None = None) -> CommandState:
    """Return what records come to."""
    taken_state = state or CommandState()
    for record in records:
        taken_state.take(record)
    return taken_state


def _read_source(kind: str, ddl: Mapping[str, Any], text: str) -> KsqlSource:
    formats, timestamp = _members(ddl.get("formats")), _members(ddl.get("timestampColumn"))
    sides = {"KEY": _members(formats.get("keyFormat")), "VALUE": _members(formats.get("valueFormat"))}
    of_sides = {side: _members(described.get("properties")) for side, described in sides.items()}
    named = [
        (f"{side}_{name}", str(of_sides[side].get(member) or ""))
        for member, name in _OF_FORMATS.items()
        for side in sides
    ]
    unwrapped = "UNWRAP_SINGLES" in (formats.get("valueFeatures") or ())
    named += [
        ("TIMESTAMP_FORMAT", str(timestamp.get("format") or "")),
        ("WRAP_SINGLE_VALUE", "false" if unwrapped else ""),
    ]
    ids = ((f"{side}_SCHEMA_ID", str(properties.get("schemaId") or "")) for side, properties in of_sides.items())
    return KsqlSource(
        kind, _strip_quotes(str(_need(ddl, "sourceName"))), str(ddl.get("schema") or ""), str(_need(ddl, "topicName")),
        str(sides["KEY"].get("format", "")).upper(), str(sides["VALUE"].get("format", "")).upper(), _strip_quotes(str(timestamp.get("column", ""))),
        windowed=isinstance(ddl.get("windowInfo"), Mapping), infers_key=bool(ddl.get("infersKey")),
        properties=tuple((name, value) for name, value in named if value), schema_ids=tuple((name, value) for name, value in ids if value),
        statement=text,
    )  # fmt: skip


def _members(part: Any) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def _column_text(column: Any) -> str:
    if isinstance(column, Mapping):
        return f"`{_strip_quotes(str(column.get('name', '')))}` {column.get('type', '')}"
    return str(column)


def _need(ddl: Mapping[str, Any], name: str) -> Any:
    if not ddl.get(name):
        raise DamagedCommandError(f"the plan's {ddl.get('@type')} has no {name}")
    return ddl[name]


def _strip_quotes(name: str) -> str:
    return name.strip().strip("`").replace("``", "`")
