"""What a statement comes to before anything is sent: the requests of plans, what a refusal asked about, and what the commands of a script name."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.column_types import parse_column_type
from treaty.core.limits import PLANNING_ATTEMPTS
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.plans import FinishPlanningJob, PlanningJobTaken, WaitingStatement, WithdrawPlan
from treaty.core.messages.metastore.scripts import ScriptMember
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Invalid, Refusal
from treaty.core.registry import CallOptions, Exchange, request_answer, run_exchange
from treaty.core.schema import Draft
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.planner import PlannedQuery, answer_job, plan_statement
from treaty.metastore.execution.prefix import ANYTHING, list_needed, names_in
from treaty.metastore.execution.recorders import statement_call
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, OnceStatement
from treaty.metastore.sql.values import HeadColumn

FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(FLIGHTS)
        yield connection


class FixedPlanner:
    """Asks some questions, and plans some columns, or refuses."""

    def __init__(self, columns: Sequence[str] = (), asks: Sequence[Any] = (), *, refuses: bool = False) -> None:
        self.columns, self.asks, self.refuses = columns, asks, refuses
        self.statements: list[CreateSourceStatement] = []

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        self.statements.append(statement)
        for question in self.asks:
            try:
                yield from request_answer(question)
            except Refusal:
                continue
        if self.refuses:
            raise Invalid.of("QUERY_REFUSED", "no", path="/sql", allowed="another")
        heads = tuple(HeadColumn(name, parse_column_type("INT")) for name in self.columns)
        return PlannedQuery(QueryPlan(statement.body), heads, ("a note",))


@pytest.mark.parametrize(("kind", "keys"), [("TABLE", ["K", "m"]), ("STREAM", [])])
def test_a_query_that_is_run_once_is_planned_as_that_of_its_source(
    registry: Connection, kind: str, keys: list[str]
) -> None:
    """Its columns have the roles of the source's, however they are spelled; a stream has no key by which its rows are found."""
    word = "PRIMARY KEY" if kind == "TABLE" else "KEY"
    Metastore(registry.registry).run(
        f"CREATE {kind} t (K INT {word}, m INT {word}, v INT) WITH (KAFKA_TOPIC = 't', FORMAT = 'AVRO')"
    )
    text = "INSERT INTO ONCE t SELECT 1"
    planner = FixedPlanner(("k", "M", "V"))
    request, notes = run_exchange(registry.registry, plan_statement(planner, OnceStatement("t", "SELECT 1"), text))
    (statement,) = planner.statements
    assert [(one.name, one.role) for one in statement.columns] == [(name, "key") for name in keys]
    assert (statement.kind, statement.name, dict(statement.properties)["ALLOW_UNBOUNDED_STATE"]) == (kind, "t", "true")
    defined = request.definition
    assert [(one.name, one.role) for one in defined.columns] == [("k", "key"), ("M", "key"), ("V", "value")]
    assert (request.once, request.replace, defined.statement, notes) == (True, True, text, ("a note",))
    source = registry.ask(m.DescribeSource("t")).answer.source
    assert (defined.kind, defined.key, defined.value, defined.place, defined.cluster, defined.connector) == (
        source.kind, source.key, source.value, source.place, source.cluster, source.connector,
    )  # fmt: skip


def test_a_refusal_says_what_it_asked_about(registry: Connection) -> None:
    """Sources and subjects of all questions and answers, also of questions that were refused."""
    for subject in ("a", "b", "c"):
        registry.ask(Register(subject_of(subject), Draft('"int"')))
    registry.ask(Register(subject_of("d"), Draft('"long"')))
    registry.set_config("nick", Config(alias="d"))
    asks = [
        m.DescribeSource("flights"), m.DescribeSource("nothing"), GetVersion(subject_of("gone"), 1), UsesOf(2, Subject(".", "")),
        GetPin(subject_of("nick")),
    ]  # fmt: skip
    job = WaitingStatement("x", "CREATE STREAM x AS SELECT 1", (), 0, is_free=True)
    claim = PlanningJobTaken("x", "p1", 3, 0)
    answer = run_exchange(registry.registry, answer_job(FixedPlanner(asks=asks, refuses=True), job, claim))
    assert isinstance(answer, FinishPlanningJob)
    assert answer.refusal is not None
    assert answer.sources == ("flights", "nothing")
    assert set(answer.subjects) == {"gone", "a", "b", "c", "nick", "d"}
    assert (answer.name, answer.planner, answer.epoch) == ("x", "p1", 3)


class FaultyPlanner:
    """Refuses a body at a place of each of its lines."""

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        faults, start = list[SqlDiagnostic](), 0
        for line, text in enumerate(statement.body.split("\n"), 1):
            faults.append(SqlDiagnostic("QUERY_REFUSED", text, start, start + len(text), line, 1))
            start += len(text) + 1
        yield from ()
        raise InvalidStatementError.by(faults)


@pytest.mark.parametrize("before", ["", "\n", "/* SELECT 1,\n 2 */ ", "-- SELECT 1,\n\n  "])
def test_errors_of_each_line_of_a_body_have_their_place_in_the_statement(registry: Connection, before: str) -> None:
    """The columns of the first line are behind what stands before the body, those of the others are their own."""
    text = f"{before}CREATE STREAM x AS SELECT 1,\n 2\nFROM y"
    (parsed,) = parse_script(text).statements
    assert isinstance(parsed.value, CreateSourceStatement)
    with pytest.raises(InvalidStatementError) as refused:
        run_exchange(registry.registry, plan_statement(FaultyPlanner(), parsed.value, text))
    for fault in refused.value.diagnostics:
        assert text[fault.start : fault.end] == fault.message
        assert fault.line == text.count("\n", 0, fault.start) + 1
        assert fault.column == fault.start - text.rfind("\n", 0, fault.start)


class LatePlanner(SelectPlanner):
    """What it reads is another source before each of its plans is used."""

    def __init__(self, change: Callable[[], object], times: int) -> None:
        super().__init__()
        self.change, self.times = change, times

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        planned = yield from super().plan(statement)
        if self.planned <= self.times:
            self.change()
        return planned


@pytest.mark.parametrize("times", [0, PLANNING_ATTEMPTS - 1, PLANNING_ATTEMPTS])
def test_a_plan_that_comes_too_late_is_made_again_so_often_and_no_more(registry: Connection, times: int) -> None:
    other = Metastore(registry.registry)
    planner = LatePlanner(lambda: other.run(f"DROP STREAM flights; {FLIGHTS}"), times)
    metastore = Metastore(registry.registry, planning=PlanningOptions(planner))
    query = "CREATE STREAM late AS SELECT carrier FROM STREAM flights"
    if times < PLANNING_ATTEMPTS:
        metastore.run(query)
    else:
        with pytest.raises(Refusal):
            metastore.run(query)
    assert planner.planned == min(times + 1, PLANNING_ATTEMPTS)


def test_the_id_of_a_script_is_that_of_its_commands_alone() -> None:
    call = CallOptions(command_id="c")
    register = Register(subject_of("a"), Draft('"int"'))
    asked = {
        (register, 0): "c", (register, 2): "c.2", (WithdrawPlan("x", "c"), 2): "", (m.DescribeSource("x"), 1): "", (UsesOf(1), 0): "",
    }  # fmt: skip
    assert {key: statement_call(call, *key).command_id for key in asked} == asked
    assert statement_call(CallOptions(), register, 3).command_id == ""


# --------------------------------------------------------------------------------------------------- what commands of scripts name

PART = SourcePart("AVRO", pin=SchemaPin(".", "pinned", 1, 0, 5))
SCHEMA = Register(subject_of("registered"), Draft('"int"'))
TYPED = SourceColumn("c", "ARRAY<Item>")
MEMBERS: dict[type, str] = {
    m.CreateSource: "create", m.ChangeSource: "change", m.SetSourceState: "state", m.DropSource: "drop", m.UndropSource: "undrop",
    m.CreateType: "create_type", m.DropType: "drop_type",
}  # fmt: skip
COMMANDS: list[tuple[Any, set[str]]] = [
    (m.CreateSource(m.SourceDefinition("S", "STREAM", "…", (TYPED,), PART)), {"source s", "source s_bad", "subject pinned", "type item"}),
    (m.CreateSource(m.SourceDefinition("s", "STREAM", "…", (), value=PART), SCHEMA), {"source s", "source s_bad", "subject pinned", "subject registered"}),
    (m.CreateSource(m.SourceDefinition("s", "STREAM", "…", ()), value_schema=SCHEMA), {"source s", "source s_bad", "subject registered"}),
    (m.ChangeSource("s", rename="R"), {"source s", "source s_bad", "source r", "source r_bad"}),
    (m.ChangeSource("s", swap="W"), {"source s", "source s_bad", "source w", "source w_bad"}),
    (m.ChangeSource("s", key=PART, value_schema=SCHEMA), {"source s", "source s_bad", "subject pinned", "subject registered"}),
    (m.ChangeSource("s", value=PART, key_schema=SCHEMA), {"source s", "source s_bad", "subject pinned", "subject registered"}),
    (m.ChangeSource("s", columns=(m.SourceColumnChange("add", TYPED),)), {"source s", "source s_bad", "type item"}),
    (m.DropSource("s"), {"source s", "source s_bad"}),
    (m.DropSource("s", cascade=True), {"source s", "source s_bad", ANYTHING}),
    (m.UndropSource("s"), {"source s", "source s_bad", ANYTHING}),
    (m.SetSourceState("s", "PAUSED"), {"source s", "source s_bad"}),
    (m.CreateType("T", "STRUCT<a: Item>"), {"type t", "type item"}),
    (m.DropType("T"), {"type t"}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "names"), COMMANDS, ids=range(len(COMMANDS)))
def test_a_command_names_all_that_it_may_change_and_needs(command: Any, names: set[str]) -> None:
    assert names_in(ScriptMember(**{MEMBERS[type(command)]: command})) == names


def test_a_question_depends_on_those_who_name_it_and_on_what_they_need_in_turn() -> None:
    named = [
        frozenset(one.split()) for one in ("type.t", "source.x", "source.s type.t", "subject.v", "source.s", "source.y")
    ]
    spelled = [frozenset(name.replace(".", " ") for name in one) for one in named]
    assert list_needed(spelled, m.DescribeSource("S")) == (0, 2, 4)
    assert list_needed(spelled, m.DescribeSource("x")) == (1,)
    assert list_needed(spelled, m.DescribeType("t")) == (0, 2)
    assert list_needed(spelled, m.DescribeSource("none")) == ()
    for question in (GetPin(subject_of("v")), GetVersion(subject_of("v"), -1)):
        assert list_needed(spelled, question) == (0, 1, 2, 3), "an id depends on all that was registered before"
        assert list_needed(spelled[:3], question) == ()
    assert list_needed([*spelled, frozenset({ANYTHING})], m.DescribeSource("none")) == (6,)
    assert list_needed(spelled, GetSchema(1, Subject(".", ""))) == ()


def test_a_statement_of_a_script_is_parsed_as_the_one_that_is_planned() -> None:
    """Both processes read the same text."""
    (parsed,) = parse_script("CREATE STREAM x AS SELECT 1").statements
    assert isinstance(parsed.value, CreateSourceStatement)
    assert parsed.value.body == "SELECT 1"
