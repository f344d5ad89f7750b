"""What an answer prints where it has nothing to say is what `/openapi.json` says of it: null, or no member at all."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from msgspec import inspect

from treaty.api.openapi.document import document
from treaty.api.openapi.table import EVERYTHING


def _structs(kinds: list[Any]) -> Iterator[type[msgspec.Struct]]:
    """The types of objects in some types, each once."""
    waiting: list[Any] = [*inspect.multi_type_info(kinds)]
    passed = set[type]()
    while waiting:
        info = waiting.pop()
        if isinstance(info, list | tuple):
            waiting += info
        elif isinstance(info, inspect.StructType):
            if info.cls not in passed:
                passed.add(info.cls)
                waiting += [member.type for member in info.fields]
                yield info.cls
        elif isinstance(info, inspect.Type):
            waiting += [getattr(info, member) for member in info.__struct_fields__]


def _least(info: Any) -> Any:
    """The least value of a type as JSON has it: defaults, else what is empty."""
    match info:
        case inspect.StructType(fields=fields):
            return {member.encode_name: _least(member.type) for member in fields if member.required}
        case inspect.UnionType(types=types):
            return _least(next(kind for kind in types if not isinstance(kind, inspect.NoneType)))
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.BoolType():
            return True
        case inspect.DictType() | inspect.RawType():
            return {}
        case inspect.ListType() | inspect.CollectionType() | inspect.VarTupleType():
            return []
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.NoneType():
            return None
        case _:
            return "a"


def _takes_null(info: Any) -> bool:
    return isinstance(info, inspect.NoneType) or (
        isinstance(info, inspect.UnionType) and any(isinstance(kind, inspect.NoneType) for kind in info.types)
    )


ANSWERS = sorted(
    _structs(
        [kind for table in EVERYTHING.values() for operation in table.values() if (kind := operation.answer.kind)]
    ),
    key=lambda kind: kind.__name__,
)


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    members: dict[str, Any] = document()["components"]
    return members


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: str(kind.__name__))
def test_an_answer_that_says_the_least_is_as_described(kind: type[msgspec.Struct], components: dict[str, Any]) -> None:
    name = kind.__name__.removesuffix("Body")
    printed = json.loads(msgspec.json.encode(msgspec.convert(_least(inspect.type_info(kind)), kind)))
    described = jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": components})
    assert [error.message for error in described.iter_errors(printed)] == []


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: str(kind.__name__))
def test_null_is_described_where_it_is_printed_and_nowhere_else(
    kind: type[msgspec.Struct], components: dict[str, Any]
) -> None:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    required = [member for member in info.fields if member.required]
    empty = {member.encode_name: None if _takes_null(member.type) else _least(member.type) for member in required}
    printed = json.loads(msgspec.json.encode(msgspec.convert(empty, kind)))
    members: dict[str, Any] = components["schemas"][kind.__name__.removesuffix("Body")].get("properties", {})
    described = {
        name
        for name, member in members.items()
        if jsonschema_rs.validator_for({**member, "components": components}).is_valid(None)
    }
    assert described == {name for name, value in printed.items() if value is None}


def test_a_comparison_of_texts_has_members_without_a_value(components: dict[str, Any]) -> None:
    side = {member: components["schemas"]["Side"]["properties"][member]["anyOf"] for member in ("subject", "version")}
    assert side == {
        "subject": [{"type": "string"}, {"type": "null"}],
        "version": [{"type": "integer"}, {"type": "null"}],
    }
