"""A program that reads what one schema wrote as values of another: Avro's schema resolution.

As with any program, what it does not take (a branch that the reader has no place for, an enum's unknown symbol) goes the
slow way, which tells why. A logical type is the reader's; where both have one, the writer's says what the number means.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from fastavro.read import LOGICAL_READERS

from treaty.client.compiled.names import NAMED, branch_of, defined, kind_of, logical_of
from treaty.client.compiled.program import UnsuitedError
from treaty.client.compiled.reading import LENGTH, MAX_DEPTH, Read, Reading

Parsed = tuple[Any, Mapping[str, Any]]
"""A schema as fastavro parsed it, and its named types."""

PROMOTED: Mapping[tuple[str, str], str] = {
    ("int", "long"): "",
    ("int", "float"): "@ = float(@)",
    ("int", "double"): "@ = float(@)",
    ("long", "float"): "@ = float(@)",
    ("long", "double"): "@ = float(@)",
    ("float", "double"): "",
    ("string", "bytes"): "@ = @.encode()",
    ("bytes", "string"): "@ = @.decode()",
}
"""What may be read as what else, and the line that makes it so."""
FAMILIES = (
    {"long-timestamp-millis", "long-timestamp-micros"},
    {"long-local-timestamp-millis", "long-local-timestamp-micros"},
    {"int-time-millis", "long-time-micros"},
)
"""Logical types that give the same kind of value."""


class UnmatchedError(ValueError):
    """The reader has no place for what the writer wrote."""


def resolver(writer: Parsed, reader: Parsed, *, tagged: bool = False) -> Read | None:
    """Return the program that reads the writer's payloads as the reader's values; None where none is written.

    `tagged`: values of the reader's unions tell their branch, and fields that the writer lacks are left out (whoever makes
    an object of them has the defaults); else they have their defaults, made anew for each record.
    """
    try:
        return _Resolver(writer[1], reader[1], tagged=tagged).program(writer[0], reader[0])
    except (UnsuitedError, UnmatchedError, RecursionError, SyntaxError, MemoryError, KeyError):
        return None


class _Resolver:
    def __init__(self, written: Mapping[str, Any], wanted: Mapping[str, Any], *, tagged: bool) -> None:
        self._reading = Reading(written, tagged=False)
        self._code = self._reading.code
        self._written = written
        self._wanted = wanted
        self._tagged = tagged
        self._functions: dict[tuple[str, str], str] = {}
        self._waiting: list[tuple[str, Any, Any]] = []

    def program(self, writer: Any, reader: Any) -> Read:
        return self._reading.made(lambda to: self._value(writer, reader, to, 0), self._rest)

    def _rest(self) -> None:
        while self._waiting:
            self._function(*self._waiting.pop())

    def _value(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        """The lines that read a value of the writer into a variable as the reader's. Raises `UnmatchedError`."""
        writer, reader = defined(writer, self._written), defined(reader, self._wanted)
        if isinstance(writer, list):
            self._reading.branches(len(writer), lambda at: self._or_wrong(writer[at], reader, to, depth))
        elif isinstance(reader, list):
            branch = self._branch(writer, reader)
            self._value(writer, branch, to, depth)
            if self._tagged and branch != "null" and len([each for each in reader if each != "null"]) > 1:
                self._code.add(f"{to} = ({self._code.constant(branch_of(defined(branch, self._wanted)))}, {to})")
        elif not self._alike(writer, reader) and (kind_of(writer), kind_of(reader)) not in PROMOTED:
            raise UnmatchedError
        else:
            self._matched(writer, reader, to, depth)

    def _or_wrong(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        with self._code.or_else(UnmatchedError, "raise wrong"):
            self._value(writer, reader, to, depth)

    def _branch(self, writer: Any, reader: list[Any]) -> Any:
        """The branch of the same type, or the first one that the value may be promoted to."""
        for branch in reader:
            if self._alike(writer, defined(branch, self._wanted)):
                return branch
        for branch in reader:
            if (kind_of(writer), kind_of(branch)) in PROMOTED:
                return branch
        raise UnmatchedError

    def _alike(self, writer: Any, reader: Any) -> bool:
        kinds = kind_of(writer), kind_of(reader)
        if kinds[0] != kinds[1]:
            return False
        if kinds[0] not in NAMED:
            return True
        old, new = str(writer["name"]), str(reader["name"])
        aliases = reader.get("aliases", ())
        named = old.rpartition(".")[2] == new.rpartition(".")[2] or old in aliases or old.rpartition(".")[2] in aliases
        return named and (kinds[0] != "fixed" or writer["size"] == reader["size"])

    def _matched(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        code, kind = self._code, kind_of(writer)
        if kind in {"record", "error"}:
            code.add(f"{to}, p = {self._record(writer, reader)}(d, p, z, k + {depth})")
        elif kind == "array":
            item = code.name("i")
            code.add(f"{to} = []")
            self._reading.blocks(
                lambda: self._or_wrong(writer["items"], reader["items"], item, depth + 1), f"{to}.append({item})", depth
            )
        elif kind == "map":
            key, item = code.name("n"), code.name("i")

            def pair() -> None:
                self._reading.value("string", key, depth + 1)
                self._or_wrong(writer["values"], reader["values"], item, depth + 1)

            code.add(f"{to} = {{}}")
            self._reading.blocks(pair, f"{to}[{key}] = {item}", depth)
        elif kind == "enum":
            known = frozenset(reader["symbols"])
            symbols = tuple(each if each in known else reader.get("default") for each in writer["symbols"])
            code.add(*LENGTH, f"{to} = {code.constant(symbols)}[n]", f"if {to} is None: raise wrong")
        else:
            self._scalar(writer, reader, to, depth)

    def _scalar(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        self._reading.raw(writer, to, depth)
        line = PROMOTED.get((kind_of(writer), kind_of(reader)), "")
        if line:
            self._code.add(line.replace("@", to))
        old, new = (logical_of(each) for each in (writer, reader))
        old, new = (each if each in LOGICAL_READERS else "" for each in (old, new))
        if not new:
            return
        if old and old != new and not any({old, new} <= family for family in FAMILIES):
            raise UnmatchedError
        self._reading.logical(writer if old else reader, to)

    def _record(self, writer: Any, reader: Any) -> str:
        key = (str(writer["name"]), str(reader["name"]))
        if key not in self._functions:
            self._functions[key] = self._code.name("s")
            self._waiting.append((self._functions[key], writer, reader))
        return self._functions[key]

    def _function(self, name: str, writer: Any, reader: Any) -> None:
        code = self._code
        wanted = {field["name"]: field for field in reader["fields"]}
        called = {alias: field["name"] for field in reader["fields"] for alias in field.get("aliases", ())}
        with code.under(f"def {name}(d, p, z, k):"):
            code.add(f"if k > {MAX_DEPTH}: raise wrong")
            found: dict[str, str] = {}
            for field in writer["fields"]:
                variable, target = (
                    code.name("f"),
                    field["name"] if field["name"] in wanted else called.get(field["name"]),
                )
                if target is None or target in found:
                    self._reading.value(field["type"], variable, 1)
                else:
                    found[target] = variable
                    self._or_wrong(field["type"], wanted[target]["type"], variable, 1)
            parts = [f"{field!r}: {found[field]}" for field in wanted if field in found]
            for field in wanted.values():
                if field["name"] not in found:
                    if "default" not in field:
                        code.add("raise wrong")
                    elif not self._tagged:
                        parts.append(f"{field['name']!r}: {self._default(field)}")
            code.add(f"return {{{', '.join(parts)}}}, p")

    def _default(self, field: Any) -> str:
        made = default_of(field["type"], field["default"], self._wanted)
        if isinstance(made, (list, dict)):
            return f"{self._code.constant(fresh(made))}()"
        return self._code.constant(made)


def fresh(value: Any) -> Callable[[], Any]:
    """What makes an equal value each time."""
    return lambda: copy.deepcopy(value)


def default_of(schema: Any, default: Any, named: Mapping[str, Any]) -> Any:
    """A default as the codec gives values: bytes as bytes, logical types as what they say."""
    schema = defined(schema, named)
    if isinstance(schema, list):
        null = default is None and "null" in schema
        return None if null else default_of(schema[0], default, named)
    match kind_of(schema):
        case "record" | "error":
            given = {field["name"]: default.get(field["name"], field.get("default")) for field in schema["fields"]}
            return {field["name"]: default_of(field["type"], given[field["name"]], named) for field in schema["fields"]}
        case "array":
            return [default_of(schema["items"], each, named) for each in default]
        case "map":
            return {key: default_of(schema["values"], each, named) for key, each in default.items()}
        case "float" | "double":
            return float(default)
        case "bytes" | "fixed":
            default = default.encode("latin-1")
    make: Callable[..., Any] | None = LOGICAL_READERS.get(logical_of(schema))
    return default if make is None else make(default, schema)
