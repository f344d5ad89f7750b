"""Rows of the metastore for the laws of tables: sources with pins, reads and types, in few names that collide."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from treaty.core import sources
from treaty.core.state.rows import Row, Value
from treaty.core.state.table import Key

contexts = st.sampled_from([".", ".x"])
subjects = st.sampled_from(["s", "t"])
small = st.integers(0, 3)
words = st.sampled_from(["", "a", "b"])
pins = st.builds(sources.SchemaPin, contexts, subjects, small, small, small)
parts = st.builds(sources.SourcePart, st.just("AVRO"), pin=st.none() | pins)
reads = st.builds(sources.SourceRead, words, small, value=st.none() | pins)
plans = st.builds(sources.QueryPlan, st.just("SELECT 1"), st.lists(reads, max_size=2).map(tuple))
incarnations = st.builds(sources.Incarnation, small, small, plans)
lists = st.lists(words, max_size=2, unique=True).map(tuple)
columns = st.just((sources.SourceColumn("id", "INT"),))
described = st.builds(
    sources.Source,
    st.sampled_from(sources.KINDS),
    words,
    words,
    columns,
    small,
    key=st.none() | parts,
    value=st.none() | parts,
    types=lists,
    origin=words,
    query=st.none() | incarnations,
    desired=st.sampled_from(sources.STATES),
)
names = st.sampled_from(["a", "b", "a_bad", "\u00e9", "\u00c9", "\u212a"])
metastore_rows = st.one_of(
    st.builds(Row, st.just("source"), st.tuples(names), st.none() | described),
    st.builds(
        Row, st.just("type"), st.tuples(names), st.none() | st.builds(sources.StoredType, words, words, small, lists)
    ),
    st.builds(
        Row, st.just("dropped"), st.tuples(names), st.none() | st.builds(sources.DroppedSource, described, words, small)
    ),
    st.builds(
        Row,
        st.just("topic"),
        st.tuples(words, words),
        st.none() | st.builds(sources.Topic, st.sampled_from(["present", "deleted"]), lists, due=small),
    ),
    st.builds(
        Row,
        st.just("assignment"),
        st.tuples(st.sampled_from(sources.PARTS), small),
        st.none() | st.builds(sources.Assignment, words, small),
    ),
)

KEYS: Mapping[str, Sequence[Key]] = {
    "source": (("a",), ("a_bad",), ("\u00e9",), ("\u00c9",), ("b",)),
    "type": (("point",), ("\u212a",), ("line",)),
    "dropped": (("a",), ("a_bad",), ("b",)),
    "topic": (("main", "t"), ("main", "u"), ("other", "t")),
    "topic_lease": (("main",), ("other",)),
    "runner": (("r1",), ("r2",)),
    "assignment": (("query", 1), ("bad", 1), ("query", 2)),
    "planning": (("a",), ("b",)),
}
"""Keys of rows that a law of indexes changes."""
_PIN = sources.SchemaPin(".", "s", 1, 0, 1)
_READ = sources.SourceRead("a", 1, value=_PIN)
_SOURCE = sources.Source("STREAM", "a", "CREATE", (sources.SourceColumn("id", "INT"),), 1)
_QUERY = sources.Incarnation(1, 1, sources.QueryPlan("SELECT 1", (_READ, replace(_READ, source="b"))))
VALUES: Mapping[str, Sequence[Value]] = {
    "source": (
        _SOURCE,
        replace(_SOURCE, value=sources.SourcePart("AVRO", pin=_PIN), types=("point", "line")),
        replace(_SOURCE, query=_QUERY, connector="delta", place="a//b"),
        replace(
            _SOURCE,
            query=_QUERY,
            previous=(_QUERY,),
            desired="PAUSED",
            key=sources.SourcePart("AVRO", pin=replace(_PIN, ordinal=1)),
        ),
        replace(_SOURCE, origin="a", connector="files", place="/c"),
    ),
    "type": (sources.StoredType("a", "INT", 1), sources.StoredType("a", "Point", 1, ("point", "line"))),
    "dropped": (
        sources.DroppedSource(_SOURCE, time=5),
        sources.DroppedSource(_SOURCE, time=7),
        sources.DroppedSource(replace(_SOURCE, origin="a"), time=5),
    ),
    "topic": (
        sources.Topic(),
        sources.Topic("deleted", due=5),
        sources.Topic("deleting", due=7),
        sources.Topic(sources=("a", "b")),
    ),
    "topic_lease": (sources.TopicLease(1, "a"), sources.TopicLease(2, "b", 3)),
    "runner": (sources.Runner(1), sources.Runner(2, "r1")),
    "assignment": (sources.Assignment("r1", 1), sources.Assignment("r1", 2), sources.Assignment("r2", 1)),
    "planning": (sources.PlanningJob("CREATE"), sources.PlanningJob("CREATE", deadline=5)),
}
"""Values of these rows."""
