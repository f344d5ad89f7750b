"""Queries that may read very many rows pause every few of them, whatever they show, and come to what they come to without a pause."""

from dataclasses import replace

import pytest

from tests.laws.counting import Counting
from tests.laws.holder import access
from tests.laws.toy import ToyGrammar, toy
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.decide import decide, decide_with_pauses
from treaty.core.messages import encodings, groups, schemaver, transfers
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.metastore import sources as metastore
from treaty.core.messages.metastore.kept_files import CheckpointName, ListKeptFiles
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import UsesOf
from treaty.core.messages.versions import FindVersion
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS
from treaty.core.sources import DroppedSource, Source, SourceColumn
from treaty.core.state import values
from treaty.core.state.commit import Position
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import encodings_key
from treaty.core.state.tables import DictTables

SUBJECTS = 1_500
VERSIONS = 800
MOST = 700
"""Rows and keys that one slice may take: what stands for `PAUSE_ROWS` entries with all that is told of each."""
STATES = ("live", "soft", "live", "hidden", "live")
RIGHTS = {
    "none": None,
    "everything": access("read", contexts=("*",)),
    "nothing of it": access("read", subjects=("nobody-*",)),
    "little": access("read", subjects=("s-1*7",)),
}
WHOLE = Subject("*", "")
REQUESTS: dict[str, Request[object]] = {
    "names": ListSubjects(),
    "deleted names": ListSubjects(visible="deleted"),
    "all names": ListSubjects(visible="all", prefix=WHOLE),
    "far names": ListSubjects(offset=SUBJECTS - 10),
    "versions": ListSchemas(WHOLE),
    "far versions": ListSchemas(WHOLE, offset=SUBJECTS - 10),
    "deleted versions": ListSchemas(WHOLE, visible="deleted"),
    "latest versions": ListSchemas(WHOLE, visible="all", latest=True),
    "versions with a rule that none has": ListSchemas(WHOLE, rule_type="ENCRYPT"),
    "versions with an association that none has": ListSchemas(WHOLE, lifecycles=("STRONG",)),
    "uses": UsesOf(1, None, "all"),
    "groups": groups.ListGroups(limit=1_000),
    "subjects to be moved": transfers.ExportSubjects(),
    "versions to be moved": transfers.ExportVersions(),
    "a group": groups.GetSubject(Subject(".", "many")),
    "a version of a type that is not there": groups.GetTypedVersion(Subject(".", "many"), "TOY", "", VERSIONS),
    "versions of a group": groups.ListGroupVersions(Subject(".", "many")),
    "encodings of a group": encodings.ListEncodings(Subject(".", "many")),
    "a history": groups.GetHistory(Subject(".", "many")),
    "subjects with a schema": groups.FindSameSchema(".", toy("a")),
    "published versions": schemaver.ListPublished(),
    "sources": metastore.ListSources(),
    "tables": metastore.ListSources("TABLE"),
    "sources with what they need": metastore.ListSources(upstreams=True),
    "dropped sources": metastore.ListDropped(),
    "queries": ListQueries(),
    "kept files": ListKeptFiles((CheckpointName(1, 1),), (1,), ("a",)),
    "a version that is not there": FindVersion(Subject(".", "many"), (("key", "value"),)),
}


@pytest.fixture(scope="module")
def tables() -> DictTables:
    rows = [Row("schema", (".", 1), values.Schema("g", "TOY", "[]", "l")), Row("context", (".",), values.Context())]
    for number in range(SUBJECTS):
        subject = (".", f"s-{number:04}")
        rows.append(Row("subject", subject, values.SubjectValue(1)))
        rows.append(Row("version", (*subject, 1, 0), values.Version(1, 1, "TOY", state=STATES[number % len(STATES)])))
    rows.append(Row("subject", (".", "many"), values.SubjectValue(1)))
    rows += [Row("version", (".", "many", 1, at), values.Version(at + 1, 1, "TOY")) for at in range(VERSIONS)]
    rows.append(Row("counter", encodings_key(Subject(".", "many")), values.Counter(0)))
    rows.append(Row("encoding", (".", "many", 0), values.Encoding(1, 1, VERSIONS - 1, "")))
    source = Source("STREAM", "s", "CREATE", (SourceColumn("a", "INT"),), 1)
    for number in range(SUBJECTS):
        rows.append(Row("source", (f"s-{number:04}",), replace(source, name=f"s-{number:04}")))
        rows.append(Row("dropped", (f"d-{number:04}",), DroppedSource(source, time=number)))
    made = DictTables()
    made.load(map(encode_row, rows), Position(b"i" * 16, 1, b"d" * 32))
    return made


def test_all_operations_that_pause_are_here() -> None:
    assert {type(one) for one in REQUESTS.values()} == {one.request for one in OPERATIONS.values() if one.pauses}


@pytest.mark.parametrize("rights", RIGHTS)
@pytest.mark.parametrize("name", REQUESTS)
def test_they_pause_and_come_to_the_same(tables: DictTables, name: str, rights: str) -> None:
    bounds: Access | None = RIGHTS[rights]
    command = Command(REQUESTS[name], "c", 1_000, "user:a", bounds)
    counting, most, before = Counting(tables), 0, 0
    work = decide_with_pauses(counting, command, ToyGrammar())
    while True:
        try:
            next(work)
        except StopIteration as ended:
            result = ended.value
            break
        finally:
            most, before = max(most, counting.work - before), counting.work
    assert most <= MOST
    whole = decide(tables, command, ToyGrammar())
    if isinstance(whole, Decision):
        assert result == whole
    else:
        assert (type(result), str(result)) == (type(whole), str(whole))


@pytest.mark.parametrize("latest", [False, True])
def test_rows_before_an_offset_are_not_read(tables: DictTables, *, latest: bool) -> None:
    """Each of them costs one entry of an order."""
    offset, work = SUBJECTS // 2, []
    for skipped in (0, offset):
        counting = Counting(tables)
        listed = ListSchemas(WHOLE, latest=latest, offset=skipped, limit=10)
        decide(counting, Command(listed, "c", 1_000, "user:a"), ToyGrammar())
        work.append(counting.work)

    assert work[1] - work[0] < 1.2 * offset
