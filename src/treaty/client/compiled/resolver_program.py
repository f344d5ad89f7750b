"""Generated programs that decode payloads of a writer's schema as values of a reader's: Avro's schema resolution.

What a program does not accept (a branch without a match, an unknown enum symbol) goes to the interpreter, which
describes the error. Logical types are converted as in `conversions`.
"""

from collections.abc import Mapping
from typing import Any

from treaty.client.compiled.conversions import conversion_of
from treaty.client.compiled.defaults import default_maker
from treaty.client.compiled.free_types import weigh_missing
from treaty.client.compiled.matches import SchemaMatcher, UnmatchedError, pair_fields
from treaty.client.compiled.names import branch_of, find_definition, kind_of
from treaty.client.compiled.program import NotCompilableError
from treaty.client.compiled.reader_program import LENGTH, MAX_DEPTH, Read, ReaderProgram

Parsed = tuple[Any, Mapping[str, Any]]
"""A schema parsed by fastavro, and its named types."""
UNWRITABLE = (
    NotCompilableError,
    RecursionError,
    SyntaxError,
    MemoryError,
    LookupError,
    ValueError,
    ArithmeticError,
    AttributeError,
    TypeError,
)
"""Errors that prevent a program: a schema that is too large, or an invalid default."""


def make_resolver(writer: Parsed, reader: Parsed, *, tagged: bool = False) -> Read | None:
    """Return the program that reads the writer's payloads as the reader's values; None if none can be generated.

    `tagged`: values of unions are ``(branch, value)``, and fields that the writer lacks are left out, because the class
    has the defaults. Otherwise such fields have their defaults, as new objects in each record.
    """
    try:
        return _Resolver(writer[1], reader[1], tagged=tagged).program(writer[0], reader[0])
    except (*UNWRITABLE, UnmatchedError):
        return None


class _Resolver:
    def __init__(self, written: Mapping[str, Any], readable: Mapping[str, Any], *, tagged: bool) -> None:
        self._reader = ReaderProgram(written, tagged=False)
        self._code = self._reader.code
        self._written = written
        self._wanted = readable
        self._matcher = SchemaMatcher(written, readable)
        self._tagged = tagged
        self._functions: dict[tuple[str, str], str] = {}
        self._waiting: list[tuple[str, Any, Any]] = []

    def program(self, writer: Any, reader: Any) -> Read:
        return self._reader.compile(lambda to: self._value(writer, reader, to, 0), self._rest)

    def _rest(self) -> None:
        while self._waiting:
            self._function(*self._waiting.pop())

    def _value(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        """Generate the lines that read a value of the writer into a variable as the reader's. Raises `UnmatchedError`."""
        writer, reader = find_definition(writer, self._written), find_definition(reader, self._wanted)
        if isinstance(writer, list):
            places = self._matcher.find_places(writer, reader)

            def branch(at: int) -> None:
                with self._code.or_else(UnmatchedError, "raise wrong"):
                    if isinstance(reader, list):
                        self._branch(writer[at], reader, places[at], (to, depth))
                    else:
                        self._value(writer[at], reader, to, depth)

            self._reader.branches(len(writer), branch)
        elif isinstance(reader, list):
            self._branch(writer, reader, self._matcher.find_branch(writer, reader), (to, depth))
        elif not self._matcher.is_match(writer, reader):
            raise UnmatchedError
        else:
            self._matched(writer, reader, to, depth)

    def _branch(self, writer: Any, reader: list[Any], place: int | None, into: tuple[str, int]) -> None:
        if place is None:
            raise UnmatchedError
        self._value(writer, reader[place], *into)
        if self._tagged and reader[place] != "null" and len([each for each in reader if each != "null"]) > 1:
            name = branch_of(find_definition(reader[place], self._wanted))
            self._code.add(f"{into[0]} = ({self._code.add_constant(name)}, {into[0]})")

    def _or_wrong(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        with self._code.or_else(UnmatchedError, "raise wrong"):
            self._value(writer, reader, to, depth)

    def _matched(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        code, kind = self._code, kind_of(writer)
        if kind in {"record", "error"}:
            code.add(f"{to}, p = {self._record(writer, reader)}(d, p, z, k + {depth})")
        elif kind == "array":
            item = code.fresh_name("i")
            code.add(f"{to} = []")
            self._reader.blocks(
                lambda: self._or_wrong(writer["items"], reader["items"], item, depth + 1),
                f"{to}.append({item})",
                depth,
                free=self._reader.free.charge_item(writer["items"]),
            )
        elif kind == "map":
            key, item = code.fresh_name("n"), code.fresh_name("i")

            def pair() -> None:
                self._reader.value("string", key, depth + 1)
                self._or_wrong(writer["values"], reader["values"], item, depth + 1)

            code.add(f"{to} = {{}}")
            self._reader.blocks(pair, f"{to}[{key}] = {item}", depth)
        elif kind == "enum":
            reader_symbols = frozenset(reader["symbols"])
            symbols = tuple(each if each in reader_symbols else reader.get("default") for each in writer["symbols"])
            code.add(*LENGTH, f"{to} = {code.add_constant(symbols)}[n]", f"if {to} is None: raise wrong")
        else:
            self._scalar(writer, reader, to, depth)

    def _scalar(self, writer: Any, reader: Any, to: str, depth: int) -> None:
        self._reader.raw(writer, to, depth)
        convert = conversion_of(writer, reader)
        if convert is not None:
            function, *more = map(self._code.add_constant, (convert[0], *convert[1]))
            self._code.add(f"{to} = {function}({', '.join([to, *more])})")

    def _record(self, writer: Any, reader: Any) -> str:
        key = (str(writer["name"]), str(reader["name"]))
        if key not in self._functions:
            self._functions[key] = self._code.fresh_name("s")
            self._waiting.append((self._functions[key], writer, reader))
        return self._functions[key]

    def _function(self, name: str, writer: Any, reader: Any) -> None:
        code = self._code
        pairs, missing = pair_fields(writer, reader)
        with code.block(f"def {name}(d, p, z, k):"):
            code.add(f"if k > {MAX_DEPTH}: raise wrong")
            self._reader.charge(self._reader.free.charge_record(writer, 0 if self._tagged else weigh_missing(missing)))
            variables: dict[str, str] = {}
            for field, target in pairs:
                variable = code.fresh_name("f")
                if target is None:
                    self._reader.value(field["type"], variable, 1)
                else:
                    variables[target["name"]] = variable
                    self._or_wrong(field["type"], target["type"], variable, 1)
            for field in missing:
                if "default" not in field:
                    code.add("raise wrong")
                elif not self._tagged:
                    variables[field["name"]] = self._default(field)
            parts = [
                f"{name!r}: {variables[name]}"
                for name in (field["name"] for field in reader["fields"])
                if name in variables
            ]
            code.add(f"return {{{', '.join(parts)}}}, p")

    def _default(self, field: Any) -> str:
        make = default_maker(field, self._wanted)
        default = make()
        return (
            f"{self._code.add_constant(make)}()"
            if isinstance(default, (list, dict))
            else self._code.add_constant(default)
        )
