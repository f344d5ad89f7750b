"""What a plan is not made with: options of another format, engines and readers that do not exist, columns of one name, or of names that
differ in upper and lower case alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from treaty.core.state.columns import ColumnType, List, Map, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import SHAPES
from treaty.plan.options import DecodeOptions
from treaty.plan.rows import Names
from treaty.plan.value import ENGINES, list_engines

MEANT_FOR: Mapping[str, str] = {
    "lossy": "AVRO",
    "message": "PROTOBUF",
    "defaults": "PROTOBUF",
    "unknown": "PROTOBUF",
    "validate": "JSON",
    "rest": "JSON",
}
"""Fields of a `DecodeOptions` that mean something to one format only."""
PLUGINS = "formats of plug-ins"
NAMED = frozenset(("latest", "union", *SHAPES))
"""Readers by name."""
PARTS = ("value", "key")
_WORD = re.compile(r"[\w.:-]*")
_USUAL = DecodeOptions()


class ForeignOptionError(PlanError):
    """An option of `DecodeOptions` means nothing to the format of the rows."""

    def __init__(self, option: str, message: str) -> None:
        """Keep the option's name."""
        super().__init__(message)
        self.option = option


def check_engine(engine: str, format_: str, usual: str) -> str:
    """The engine that is asked for, or the format's usual one. Raises `PlanError` for one that does not read the format."""
    engines = list_engines(format_)
    if not engine or engine in engines:
        return engine or usual
    allowed = ", ".join(engines)
    raise PlanError(f"engine = {engine!r} reads no {format_}; allowed are {allowed}, or none named")


def refuse_foreign(choices: Mapping[str, Any], format_: str) -> None:
    """Raise `PlanError` for an option that means nothing to the format of the rows."""
    for name, value in choices.items():
        meant = _find_owner(name, format_)
        if meant != format_ and value != getattr(_USUAL, name):
            raise ForeignOptionError(
                name, f"{name} = {value!r} is for {meant}, and the rows to read are {format_}; leave it out"
            )


def _find_owner(option: str, format_: str) -> str:
    """The format, or the formats, that an option means something to; `format_` where it is one of them."""
    if option in MEANT_FOR:
        return MEANT_FOR[option]
    if (option == "encoding") == (format_ not in ENGINES):
        return format_
    return ", ".join(sorted(ENGINES)) if format_ not in ENGINES else PLUGINS


def is_word(text: str) -> bool:
    """Whether a text is one word, so that it was meant as a reader's name when it is no schema."""
    return _WORD.fullmatch(text) is not None


def reader_error(name: str) -> PlanError:
    """The error of a reader's name that is none."""
    allowed = ", ".join(("latest", "union", *SHAPES))
    return PlanError(
        f"reader = {name!r} is neither a reader nor a schema; allowed are {allowed}, a version's number (an int), and a schema's text"
    )


def refuse_part(part: str) -> None:
    """Raise `PlanError` for a half of a record that is none."""
    if part not in PARTS:
        raise PlanError(f"part = {part!r} is no half of a record; allowed are {', '.join(PARTS)}")


def find_twins(*groups: Iterable[str], exact: bool = False) -> tuple[str, ...]:
    """Names that these groups have more than once, whatever their case unless `exact`; empty ones are none."""
    keys: set[str] = set()
    double: dict[str, None] = {}
    for name in (one for group in groups for one in group if one):
        key = name if exact else name.lower()
        if key in keys:
            double[name] = None
        keys.add(key)
    return tuple(double)


@lru_cache(64)
def find_case_twins(type_: str) -> tuple[str, ...]:
    """The fields of a plan's type, at any depth, that differ in case alone from one beside them: ``s.Id and s.id``."""
    return tuple(_list_case_twins(parse_type(type_), ""))


def _list_case_twins(kind: ColumnType, way: str) -> Iterator[str]:
    match kind:
        case Struct(columns):
            first: dict[str, str] = {}
            for column in columns:
                path = f"{way}{column.name}"
                if (other := first.setdefault(column.name.lower(), path)) != path:
                    yield f"{other} and {path}"
                yield from _list_case_twins(column.type, f"{path}.")
        case List(element):
            yield from _list_case_twins(element, way)
        case Map(_, value):
            yield from _list_case_twins(value, way)


def show_twins(twins: Sequence[str]) -> str:
    """The names that differ in case alone, as a sentence has them."""
    more = f" (and {len(twins) - 1} more)" if len(twins) > 1 else ""
    return f"{twins[0]}{more} differ in nothing but upper and lower case"


def refuse_twins(frame: Iterable[str], names: Names, fields: Iterable[str], *, exact: bool) -> None:
    """Raise `PlanError` where decoding would add a column of a name that another one has. `fields` are those that get
    columns of their own.
    """
    own = [f"{names.prefix}{name}" for name in fields]
    record = () if own else (names.record,)
    double = find_twins(frame, (*record, names.error, names.schema_id, names.version, names.subject), own, exact=exact)
    if double:
        raise PlanError(
            f"two columns would be called {double[0]}: drop or rename that of the frame, or name what is added by "
            "names=Names(record=…, error=…), and the fields of a record that gets columns by Names(prefix=…)"
        )
