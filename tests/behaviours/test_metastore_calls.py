"""Typed calls of the metastore: one suite, embedded and over HTTP, in programs with and without asyncio."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.behaviours.served import served
from treaty import connect, connect_async
from treaty.core.refusals import Invalid, NotFound, Refusal
from treaty.metastore import AsyncMetastore, Metastore
from treaty.metastore.execution.results import InvalidStatementError, StatementResult

Call = Callable[..., Any]
COLUMNS = {"id": "BIGINT", "carrier": "STRING NOT NULL COMMENT 'two letters'", "home": "address"}


@pytest.fixture(params=["embedded", "http", "async-embedded", "async-http"])
def call(request: pytest.FixtureRequest) -> Iterator[Call]:
    """A function that makes a call by its name, of a metastore of its own."""
    place = request.param.removeprefix("async-")
    if place == "embedded":
        yield from _calls("memory:", is_async=request.param != place)
    else:
        with served("memory:") as running:
            yield from _calls(running.url, is_async=request.param != place)


def _calls(url: str, *, is_async: bool) -> Iterator[Call]:
    if not is_async:
        with connect(url) as connection:
            yield lambda name, *args, **named: getattr(connection.metastore, name)(*args, **named)
        return
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def opened() -> AsyncMetastore:
            return (await stack.enter_async_context(connect_async(url))).metastore

        metastore = runner.run(opened())
        yield lambda name, *args, **named: runner.run(getattr(metastore, name)(*args, **named))
        runner.run(stack.aclose())


def test_a_stream_is_created_described_changed_and_dropped(call: Call) -> None:
    assert call("create_type", "address", "STRUCT<street: STRING, zip: INT>").created
    made = {"key": ["id"], "kafka_topic": "flights", "value_format": "AVRO", "comment": "all flights"}
    assert call("create_stream", "flights", COLUMNS, **made, dry_run=True).created
    assert call("sources") == ()
    stored = call("create_stream", "flights", COLUMNS, **made)
    assert (stored.name, stored.kind, stored.created) == ("flights", "STREAM", True)
    with pytest.raises(Refusal, match="already"):
        call("create_stream", "Flights", COLUMNS, **made)
    assert not call("create_stream", "Flights", COLUMNS, if_not_exists=True, **made).created
    found = call("describe", "FLIGHTS")
    columns = [(one.name, one.type, one.role, one.nullable) for one in found.source.columns]
    assert columns == [
        ("id", "BIGINT", "key", True),
        ("carrier", "STRING", "value", False),
        ("home", "address", "value", True),
    ]
    assert (found.source.columns[1].comment, found.source.comment) == ("two letters", "all flights")
    assert call("describe_type", "address").users == ("flights",)
    assert [one.name for one in call("dependencies", "flights").upstreams] == ["address", "flights-value version 1"]

    call("set_properties", "flights", retention_ms=86_400_000)
    call("set_comment", "flights", "some flights")
    call("protect", "flights")
    with pytest.raises(Refusal, match="protected"):
        call("drop", "flights")
    call("protect", "flights", False)
    assert call("rename", "flights", "trips").name == "trips"
    (source,) = call("sources", "stream")
    assert (source.name, source.comment, dict(source.properties)) == (
        "trips",
        "some flights",
        {"RETENTION_MS": "86400000"},
    )
    assert call("sources", "table") == call("queries") == ()

    assert call("drop", "trips", dry_run=True).names == ("trips",)
    assert call("drop", "trips", cascade=True).dropped
    assert call("drop", "trips", if_exists=True).names == ()
    with pytest.raises(NotFound):
        call("describe", "trips")
    assert call("undrop", "trips").created
    assert call("drop", "trips").dropped
    assert call("drop_type", "address").dropped
    assert call("types") == ()


def test_a_schema_that_is_newer_is_taken(call: Call) -> None:
    call("create_table", "t", {"k": "STRING", "v": "INT"}, key=["k"], kafka_topic="t", value_format="JSON")
    call("add_columns", "t", {"w": "STRING"})
    assert [one.name for one in call("describe", "t").source.columns] == ["k", "v", "w"]
    assert call("refresh_schema", "t", dry_run=True).name == "t"


def test_statements_are_run_and_their_rows_are_tables(call: Call) -> None:
    created, listed = call(
        "run", "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO'); SHOW STREAMS"
    )
    assert (created.message, listed.rows[0][:3]) == ("Stream s created", ("s", "kafka", "s"))
    one = call("run_one", "SELECT name, generation, protected, comment, query_state FROM treaty.sources")
    assert one.to_arrow().to_pylist() == [
        {"name": "s", "generation": created.sequence, "protected": False, "comment": "", "query_state": None}
    ]
    assert list(one.to_pandas().columns) == ["name", "generation", "protected", "comment", "query_state"]
    assert call("run_one", "SHOW TYPES").to_arrow().num_rows == 0
    with pytest.raises(Invalid, match="the text has 2"):
        call("run_one", "SHOW TYPES; DROP STREAM s")
    assert len(call("sources")) == 1


@pytest.mark.parametrize(
    ("columns", "options", "rule", "words"),
    [
        ({"a": "INT) WITH ("}, {}, "SYNTAX", "column a: "),
        ({"a": "INT", "b": "MAP<INT"}, {}, "TYPE_SYNTAX", "column b: "),
        ({"a": "INT"}, {"kafka_topik": "s"}, "PROPERTY_UNKNOWN", "did you mean KAFKA_TOPIC"),
        ({"a": "INT"}, {"x) AS SELECT 1 --": "s"}, "PROPERTY_UNKNOWN", "no name of a property"),
        ({"a": "INT"}, {"key": ["b"]}, "NAME_REFUSED", "no column b"),
    ],
)
def test_what_is_no_column_and_no_property_is_refused(
    call: Call, columns: dict[str, str], options: dict[str, Any], rule: str, words: str
) -> None:
    with pytest.raises(Invalid, match=words.replace(")", r"\)")) as refused:
        call("create_stream", "s", columns, value_format="AVRO", **options)
    assert refused.value.reason.rule == rule
    assert call("sources") == ()


def test_both_kinds_of_programs_have_the_same_calls() -> None:
    calls, coroutines = (
        {name: member for name, member in vars(kind).items() if callable(member) and not name.startswith("_")}
        for kind in (Metastore, AsyncMetastore)
    )
    assert calls.keys() == coroutines.keys() - {"run_parsed_script"}
    assert all(
        inspect.iscoroutinefunction(inspect.unwrap(member)) or hasattr(member, "__wrapped__")
        for member in coroutines.values()
    )


def test_a_notebook_shows_rows_as_a_table_and_escapes_them() -> None:
    result = StatementResult(
        "SHOW", "SHOW", message="<b>", columns=("a",), rows=((None,), (True,), ("<i>",)) + ((1,),) * 200
    )
    shown = result._repr_html_()
    assert "<p>&lt;b&gt;</p>" in shown
    assert "<tr><td></td></tr><tr><td>true</td></tr><tr><td>&lt;i&gt;</td></tr>" in shown
    assert shown.endswith("<p>and 103 more rows</p>")
    assert StatementResult("DROP", "DROP", message="done")._repr_html_() == "<p>done</p>"


def test_an_error_of_a_column_has_its_place_in_the_type() -> None:
    with connect("memory:") as connection, pytest.raises(InvalidStatementError) as refused:
        connection.metastore.create_stream("s", {"a": "STRUCT<x: >"}, kafka_topic="s")
    (one,) = refused.value.diagnostics
    assert (one.line, one.column, one.start) == (1, 11, 10)
