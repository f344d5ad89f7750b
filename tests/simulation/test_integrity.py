"""The judge's own check of what sources and types need: each lack is seen."""

from dataclasses import replace

import pytest

from tests.simulation.judging.model.events import Event, SourceChanged, TypeChanged
from tests.simulation.judging.model.metastore.integrity import find_faults
from tests.simulation.judging.model.past import Past
from treaty.core.sources import (
    Incarnation,
    QueryPlan,
    SchemaPin,
    Source,
    SourceColumn,
    SourcePart,
    SourceRead,
    StoredType,
)

A = Source("STREAM", "a", "", (SourceColumn("id", "INT"),), 1)
POINT = StoredType("Point", "INT", 2)


def reading(source: Source, name: str, generation: int = 1) -> Source:
    return replace(source, query=Incarnation(1, 1, QueryPlan("SELECT 1", (SourceRead(name, generation),))))


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (SourceChanged("b", reading(replace(A, name="b"), "c")), "source b reads c of generation 1, which is not there"),
        (SourceChanged("b", reading(replace(A, name="b"), "a", 2)), "source b reads a of generation 2, which is not there"),
        (SourceChanged("a", reading(A, "a")), "a needs itself"),
        (SourceChanged("b", A), "source b is called a"),
        (SourceChanged("b", replace(A, name="B", types=("line",))), "source b uses type line, which is not there"),
        (SourceChanged("b", replace(A, name="b", origin="c")), "source b has the bad rows of c, which is not there"),
        (
            SourceChanged("b", replace(A, name="b", value=SourcePart("AVRO", pin=SchemaPin(".", "s", 1, 0, 1)))),
            "source b is bound to ('.', 's', 1, 0), which is not there",
        ),
        (TypeChanged("line", replace(POINT, name="line", types=("none",))), "type line is made of none, which is not there"),
        (TypeChanged("point", replace(POINT, types=("point",))), "point needs itself"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_what_is_missing_is_told(event: Event, told: str) -> None:
    sound = Past((SourceChanged("a", A), TypeChanged("point", POINT)), 2)

    assert not [*find_faults(sound)]
    assert told in [*find_faults(sound.then([event]))]


def test_two_names_that_are_one_for_spark_are_told() -> None:
    both = Past(
        (SourceChanged("\u00e9", replace(A, name="\u00e9")), SourceChanged("\u00c9", replace(A, name="\u00c9")))
    )
    assert len([*find_faults(both)]) == 2
