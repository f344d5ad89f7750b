"""Key and value of a source: what a statement says of each, and what the registry has for it."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.frames import record
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.column_types import parse_column_type
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import FormatNotAllowed, Invalid, NotFound, Refusal
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft
from treaty.core.state.columns import Column
from treaty.metastore.columns.sides import (
    SettledSide,
    SideRequest,
    choose_key_format,
    refuse_bad_headers,
    refuse_shared_names,
    settle_side,
)
from treaty.metastore.columns.sql_types import print_sql_type, read_sql_type
from treaty.metastore.sql.properties import KAFKA, NONE

CASES = Path(__file__).parents[1] / "cases" / "sides"
AVRO = Draft(record(("id", "long"), ("note", ["null", "string"], None), name="shop.Order"))
PROTO = Draft('syntax = "proto3"; package shop; message A { int32 a = 1; } message B { string b = 1; }', "PROTOBUF")
JSON = Draft('{"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}', "JSON")


@pytest.fixture(scope="module")
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        for name, draft in (("a-value", AVRO), ("p-value", PROTO), ("j-value", JSON), ("a-key", Draft('"long"'))):
            found.ask(Register(subject_of(name), draft))
        yield found


def column(text: str) -> Column:
    """``name TYPE``, with NOT NULL at the end where it is meant."""
    name, _, kind = text.partition(" ")
    return Column(
        name, read_sql_type(parse_column_type(kind.removesuffix(" NOT NULL"))), not kind.endswith(" NOT NULL")
    )


def settle(registry: Connection, **members: Any) -> SettledSide:
    side = members.pop("side", "value")
    subject = subject_of(members.pop("subject", f"new-{side}"))
    columns = tuple(map(column, members.pop("columns", ())))
    format_ = members.pop("format", "")
    return run_exchange(registry, settle_side(SideRequest(side, format_, subject, columns, **members)))


def printed(columns: tuple[Column, ...]) -> list[str]:
    return [f"{one.name} {print_sql_type(one.type)}{'' if one.nullable else ' NOT NULL'}" for one in columns]


def cases() -> list[str]:
    return sorted(path.stem for path in CASES.glob("*.toml"))


@pytest.mark.parametrize("name", cases())
def test_a_case_comes_to_what_is_written_down(registry: Connection, name: str) -> None:
    """What a statement says of a half, and the columns, the pin, the draft or the refusal that follow."""
    case = tomllib.loads((CASES / f"{name}.toml").read_text("utf-8"))
    if "refused" in case:
        with pytest.raises(Refusal) as refused:
            settle(registry, **case["says"])
        assert (refused.value.reason.rule, str(refused.value)) == (case["rule"], case["refused"])
        return
    found = settle(registry, **case["says"])
    assert printed(found.columns) == case["columns"]
    assert found.format == case["format"]
    assert (
        (found.pin.schema.format, found.pin.number, str(found.pin.subject)) == tuple(case["pin"])
        if found.pin
        else "pin" not in case
    )
    assert (found.draft is not None) is case.get("draft", False)
    assert list(found.notes) == case.get("notes", [])


def test_a_draft_becomes_the_next_version_and_its_columns_stay(registry: Connection) -> None:
    first = settle(registry, format="AVRO", subject="grown-value", columns=["id BIGINT NOT NULL"])
    assert first.draft is not None
    registry.ask(Register(subject_of("grown-value"), first.draft))
    second = settle(registry, format="AVRO", subject="grown-value", columns=["id BIGINT NOT NULL", "at TIMESTAMP"])
    assert second.draft is not None
    registry.ask(Register(subject_of("grown-value"), second.draft))
    assert settle(registry, subject="grown-value").columns == second.columns


@pytest.mark.parametrize(
    ("columns", "names_schema", "format_"),
    [([], False, NONE), (["id BIGINT"], False, KAFKA), (["id BIGINT"], True, ""), ([], True, "")],
)
def test_a_key_has_a_format_of_its_own_where_none_is_said(
    columns: list[str], format_: str, *, names_schema: bool
) -> None:
    found = tuple(map(column, columns))
    assert choose_key_format("", found, names_schema=names_schema) == format_
    assert choose_key_format("AVRO", found, names_schema=names_schema) == "AVRO"


@pytest.mark.parametrize("columns", [["a INT", "b INT"], ["a ARRAY<INT>"], ["a DATE"], ["a DECIMAL(9, 2)"]])
def test_a_key_of_several_columns_needs_a_format(columns: list[str]) -> None:
    with pytest.raises(Invalid, match="is no single primitive, so its format has to be said"):
        choose_key_format("", tuple(map(column, columns)), names_schema=False)


def test_columns_of_headers_have_the_types_of_headers() -> None:
    refuse_bad_headers(
        [(column("h BINARY"), "header"), (column("all ARRAY<STRUCT<key: STRING, value: BINARY>>"), "headers")]
    )
    with pytest.raises(Invalid, match="h is STRING, and a header is BINARY: declare it so"):
        refuse_bad_headers([(column("h STRING"), "header")])
    with pytest.raises(Invalid, match="all headers are ARRAY<STRUCT<key: STRING, value: BINARY>>"):
        refuse_bad_headers([(column("h ARRAY<BINARY>"), "headers")])


def test_key_and_value_share_no_name(registry: Connection) -> None:
    key = settle(registry, side="key", format=KAFKA, columns=["ID BIGINT"])
    value = settle(registry, subject="a-value")
    with pytest.raises(Invalid, match="key and value both have a column ID"):
        refuse_shared_names(key, value)
    other = replace(key, columns=(column("other BIGINT"),))
    refuse_shared_names(other, value)
    with pytest.raises(Invalid, match="the source: other and OTHER differ in case alone"):
        refuse_shared_names(other, value, [column("OTHER BINARY")])


def test_a_missing_subject_is_not_a_subject_of_another_format(registry: Connection) -> None:
    with pytest.raises(NotFound):
        settle(registry, format="JSON")
    with pytest.raises(FormatNotAllowed):
        settle(registry, format="JSON", subject="a-value")
