"""Which checkpoints and folders rows still need: those of sources, and of what can come back."""

from collections.abc import Iterator

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.limits import KEPT_FILES
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptNumber, ListKeptFiles
from treaty.core.messages.metastore.sources import ChangeSource, DescribeSource
from treaty.core.refusals import NotPermitted, TooLarge
from treaty.core.sources import Incarnation
from treaty.metastore import Metastore, PlanningOptions

FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
LATE = "CREATE STREAM late WITH (CONNECTOR = 'delta', PATH = 'a/Late') AS SELECT carrier FROM STREAM flights"


@pytest.fixture
def there() -> Iterator[Connection]:
    with connect("memory:") as connection:
        run(connection, FLIGHTS, LATE)
        yield connection


def run(it: Connection, *statements: str) -> None:
    Metastore(it.registry, planning=PlanningOptions(SelectPlanner())).run("; ".join(statements))


def query_of(it: Connection, name: str) -> Incarnation:
    query = it.ask(DescribeSource(name)).answer.source.query
    assert query is not None
    return query


def kept(it: Connection, first: int, *numbers: int) -> dict[int, KeptNumber]:
    """What rows say of numbers of a source that was created by the commit `first`."""
    names = tuple(CheckpointName(first, number) for number in (first, *numbers))
    return {one.number: one for one in it.ask(ListKeptFiles(names)).answer.incarnations}


def test_a_source_names_its_number_and_a_dropped_one_may_return(there: Connection) -> None:
    began = query_of(there, "late").began
    assert kept(there, began, 77_777) == {began: KeptNumber(began, needed=True, generation=began)}
    run(there, "DROP STREAM late")
    assert kept(there, began) == {began: KeptNumber(began, returns=True, generation=began)}
    run(there, "UNDROP STREAM late")
    assert kept(there, began) == {began: KeptNumber(began, needed=True, generation=began)}
    assert there.ask(ListKeptFiles((CheckpointName(77_777, began),))).answer.incarnations == ()
    run(there, "DROP STREAM late", LATE, "DROP STREAM late")  # only the newest of a name can come back
    assert kept(there, began) == {}


def test_generations_outlive_their_first_checkpoints(there: Connection) -> None:
    source = there.ask(DescribeSource("late")).answer.source
    run(there, "DROP STREAM late", "UNDROP STREAM late")
    again = there.ask(DescribeSource("late")).answer.source.generation
    answer = there.ask(ListKeptFiles(generations=(source.generation, again, 77_777))).answer
    assert answer.generations == (KeptNumber(source.generation, needed=True), KeptNumber(again, needed=True))


def test_a_former_query_may_return_and_is_needed_until_the_next_one_has_taken_over(there: Connection) -> None:
    first = query_of(there, "late").began
    there.ask(ChangeSource("late", restart="RESET"))
    second = query_of(there, "late").began
    assert kept(there, first, second) == {
        first: KeptNumber(first, returns=True, until=second, generation=first),
        second: KeptNumber(second, needed=True, generation=first),
    }


@pytest.mark.parametrize("place", ["a/Late", "/a/late/", "a", "a/late/part=1"])
def test_a_place_is_named_by_what_is_there_below_or_above_it(there: Connection, place: str) -> None:
    for _ in range(2):
        assert there.ask(ListKeptFiles(places=(place, "a/later", "b"))).answer.places == (place,)
        run(there, "DROP STREAM late")
        run(there, "UNDROP STREAM late")
    run(there, "DROP STREAM late")
    assert there.ask(ListKeptFiles(places=(place,))).answer.places == (place,)


def test_checkpoints_stay_where_they_are(there: Connection) -> None:
    words = LATE.replace("CREATE", "CREATE OR REPLACE").replace("PATH", "CHECKPOINT_ROOT = 'team', PATH")
    with pytest.raises(NotPermitted, match="the root of the runner, and the new definition says team") as refused:
        run(there, words)
    assert refused.value.reason.rule == "CHECKPOINT_MOVED"


def test_one_question_has_a_bound(there: Connection) -> None:
    with pytest.raises(TooLarge, match="too many"):
        there.ask(ListKeptFiles(tuple(CheckpointName(1, number) for number in range(KEPT_FILES)), places=("a",)))
