"""Limits of what a registry may hold: who is past one hears its name, what is there, what is allowed and what helps."""

import pytest

from tests.laws.counting import work_of
from tests.laws.toy import Bench, S, put, toy
from treaty.assemble import connect
from treaty.core import limits
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.invariants import find_violations
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.schema import Draft
from treaty.core.state import values
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import CONTENT, VERSION, VERSION_BY_SUBJECT
from treaty.core.state.view import Overlay


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", 5)
    monkeypatch.setattr(limits, "VERSIONS_DROPPED", 3)
    bench = Bench()
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    return bench


def states(bench: Bench, subject: Subject = S) -> list[tuple[int, str]]:
    """Ordinals and states of all versions that are kept."""
    rows = ((key, bench.tables.get(VERSION, key)) for key in sorted(bench.tables.find(VERSION_BY_SUBJECT, subject)))
    return [(key.ordinal, row.state) for key, row in rows if row is not None]


def turn(bench: Bench, *names: str) -> int:
    """Register a schema and delete it softly; the number that it had."""
    number = put(bench, S, *names).number
    bench.do(DeleteVersion(S, number))
    return number


def refused(bench: Bench, request: Register | MakeContext) -> TooLarge:
    before = [*bench.tables.rows()]
    with pytest.raises(TooLarge) as caught:
        bench.do(request)
    assert [*bench.tables.rows()] == before
    return caught.value


# ------------------------------------------------------------------------------------------- contexts and subjects


def test_contexts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    for context in (".", ".a", ".b"):
        put(bench, Subject(context, "s"), "x")
    monkeypatch.setattr(limits, "CONTEXTS", 3)
    error = refused(bench, Register(Subject(".c", "s"), toy("x")))
    assert (error.reason.rule, error.reason.message, error.reason.old) == ("CONTEXTS", "There are 3 contexts", "3")
    assert error.reason.allowed == "at most 3 contexts; delete one that has no subject"
    put(bench, Subject(".b", "t"), "x")
    bench.do(SetMode(Scope("*"), "IMPORT", force=True))
    assert refused(bench, MakeContext(".c")).reason.rule == "CONTEXTS"
    assert bench.do(MakeContext(".b", 7)).highest_id == 7
    bench.do(SetMode(Scope("*"), "READWRITE"))
    for permanent in (False, True):
        bench.do(DeleteSubject(Subject(".a", "s"), permanent=permanent))
    bench.do(DeleteContext(".a"))
    put(bench, Subject(".c", "s"), "x")


def test_subjects_of_a_context_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    for name in ("s", "t"):
        put(bench, Subject(".", name), "x")
    monkeypatch.setattr(limits, "SUBJECTS_PER_CONTEXT", 2)
    error = refused(bench, Register(Subject(".", "u"), toy("x")))
    assert error.reason.rule == "SUBJECTS_PER_CONTEXT"
    assert error.reason.message == "Context . has 2 subjects"
    assert error.reason.allowed == "at most 2 subjects; delete one permanently, or use another context"
    put(bench, Subject(".other", "u"), "x")
    put(bench, S, "x", "y?")
    bench.do(DeleteSubject(Subject(".", "t")))
    assert refused(bench, Register(Subject(".", "u"), toy("x"))).reason.old == "2"
    bench.do(DeleteSubject(Subject(".", "t"), permanent=True))
    put(bench, Subject(".", "u"), "x")


def test_schemas_of_a_context_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    for name in ("a", "b"):
        put(bench, Subject(".", name), name)
    monkeypatch.setattr(limits, "SCHEMAS_PER_CONTEXT", 2)
    error = refused(bench, Register(S, toy("c")))
    assert error.reason.rule == "SCHEMAS_PER_CONTEXT"
    assert error.reason.message == "Context . has 2 schemas"
    assert "delete versions permanently" in error.reason.allowed
    put(bench, S, "a")
    put(bench, Subject(".other", "s"), "c")
    bench.do(SetMode(Scope(".", "t"), "IMPORT"))
    assert refused(bench, Register(Subject(".", "t"), toy("c"), schema_id=9)).reason.rule == "SCHEMAS_PER_CONTEXT"
    put(bench, Subject(".", "t"), "b", schema_id=2)
    for permanent in (False, True):
        bench.do(DeleteSubject(Subject(".", "a"), permanent=permanent))
        bench.do(DeleteSubject(S, permanent=permanent))
    put(bench, S, "c")


def test_commands_of_one_chain_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    put(bench, S, "a")
    for limit, rule, subject in (
        ("CONTEXTS", "CONTEXTS", ".c{}"),
        ("SUBJECTS_PER_CONTEXT", "SUBJECTS_PER_CONTEXT", "."),
        ("SCHEMAS_PER_CONTEXT", "SCHEMAS_PER_CONTEXT", "."),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, limit, 3)
            overlay, answers = Overlay(bench.tables), []
            for number in range(4):
                request = Register(Subject(subject.format(number), f"s{number}"), toy(f"a{number}"))
                verdict = decide(overlay, Command(request, f"chain{number}", 7), bench.engine)
                if isinstance(verdict, Decision):
                    overlay.put(verdict.rows)
                answers.append("" if isinstance(verdict, Decision) else verdict.reason.rule)  # type: ignore[union-attr]
            assert answers == ["", "", rule, rule]


# ------------------------------------------------------------------------------------------------------- versions


def test_the_oldest_hidden_versions_go_in_the_commit_that_needs_their_room(bench: Bench) -> None:
    numbers = [turn(bench, "a") for _ in range(40)]
    assert numbers == [*range(1, 41)]
    assert states(bench) == [(35, "hidden"), (36, "hidden"), (37, "hidden"), (38, "hidden"), (39, "soft")]
    assert put(bench, S, "a").number == 41
    assert states(bench) == [(36, "hidden"), (37, "hidden"), (38, "hidden"), (39, "hidden"), (40, "live")]
    assert not [*find_violations(bench.tables)]


def test_softly_deleted_versions_never_go_of_themselves(bench: Bench) -> None:
    for number in range(5):
        turn(bench, f"a{number}")
    error = refused(bench, Register(S, toy("new")))
    assert error.reason.rule == "VERSIONS_KEPT_PER_SUBJECT"
    assert error.reason.message == "Subject 's' has 5 versions: 0 live, 5 softly deleted, 0 hidden"
    assert error.reason.allowed == "at most 5 versions; delete softly deleted ones permanently (permanent=true)"
    bench.do(DeleteVersion(S, 2, permanent=True))
    assert put(bench, S, "new").number == 6
    assert put(bench, S, "new").number == 6, "what is there already needs no room"
    assert [state for _, state in states(bench)] == ["soft"] * 4 + ["live"]
    assert refused(bench, Register(S, toy("newer"))).reason.old == "5"


def test_a_hidden_version_with_an_encoding_stays(bench: Bench) -> None:
    for _ in range(4):
        turn(bench, "a")
    pinned = [Row("encoding", (*S, number), values.Encoding(1, 2, ordinal)) for number, ordinal in enumerate((0, 2))]
    bench.tables.apply([encode_row(row) for row in pinned], bench.position)
    for _ in range(5):
        turn(bench, "a")
    assert states(bench) == [(0, "hidden"), (2, "hidden"), (6, "hidden"), (7, "hidden"), (8, "soft")]
    more = [Row("encoding", (*S, number), values.Encoding(1, 2, number)) for number in (6, 7, 8)]
    bench.tables.apply([encode_row(row) for row in more], bench.position)
    assert refused(bench, Register(S, toy("a"))).reason.rule == "VERSIONS_KEPT_PER_SUBJECT"


def test_a_hidden_version_that_a_schema_refers_to_stays(bench: Bench) -> None:
    """No command makes such a reference; rows of an older log may have one."""
    for _ in range(5):
        turn(bench, "a")
    used = (values.StoredReference("n", "s", 1, 1),)
    rows = [
        Row("schema", (".", 90), values.Schema("g", "TOY", "[]", "l", used)),
        Row("version", (".", "user", 1, 0), values.Version(1, 90, "TOY")),
    ]
    bench.tables.apply([encode_row(row) for row in rows], bench.position)
    turn(bench, "a")
    assert states(bench) == [(0, "hidden"), (2, "hidden"), (3, "hidden"), (4, "hidden"), (5, "soft")]


def test_a_subject_far_past_the_limit_shrinks_a_bounded_step_at_a_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", 100)
    for _ in range(12):
        turn(bench, "a")
    monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", 5)
    kept = []
    for _ in range(6):
        turn(bench, "a")
        kept.append(len(states(bench)))
    assert kept == [10, 8, 6, 5, 5, 5]


def test_an_import_in_the_place_of_a_version_needs_no_room(bench: Bench) -> None:
    for number in range(5):
        turn(bench, f"a{number}")
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    put(bench, S, "b", schema_id=70, number=3)
    assert [state for _, state in states(bench)] == ["soft"] * 4 + ["live"]
    assert refused(bench, Register(S, toy("c"), schema_id=71, number=9)).reason.rule == "VERSIONS_KEPT_PER_SUBJECT"
    assert not [*find_violations(bench.tables)]


def test_an_import_in_the_place_of_a_version_removes_no_other(bench: Bench) -> None:
    for _ in range(3):
        turn(bench, "a")
    put(bench, S, "b")
    put(bench, S, "c")
    assert [state for _, state in states(bench)] == ["hidden", "hidden", "soft", "live", "live"]
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    put(bench, S, "d", schema_id=70, number=4)
    assert [state for _, state in states(bench)] == ["hidden", "hidden", "soft", "live", "live"]


def test_at_the_limit_of_live_versions_an_import_may_replace_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VERSIONS_PER_SUBJECT", 3)
    for number in range(3):
        put(bench, S, f"a{number}")
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    assert put(bench, S, "b", schema_id=70, number=2).number == 2
    assert refused(bench, Register(S, toy("c"), schema_id=71, number=9)).reason.rule == "VERSIONS_PER_SUBJECT"


def test_room_is_made_of_other_versions_than_those_that_go_anyway(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [turn(bench, name) for name in ("a", "a", "a", "c", "c")]
    monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", 2)
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    put(bench, S, "b", number=numbers[2], schema_id=70)
    assert states(bench) == [(4, "soft"), (5, "live")], "all of the schema a went, and the hidden version of c for room"
    assert not [*find_violations(bench.tables)]


def test_hidden_versions_that_go_leave_no_room_for_a_live_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [turn(bench, "a") for _ in range(3)]
    put(bench, S, "b")
    put(bench, S, "c")
    monkeypatch.setattr(limits, "VERSIONS_PER_SUBJECT", 2)
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    request = Register(S, toy("d"), number=numbers[2], schema_id=70)
    assert refused(bench, request).reason.rule == "VERSIONS_PER_SUBJECT"


def test_what_is_sent_along_goes_with_the_version_that_alone_had_it(bench: Bench) -> None:
    """Texts as sent and names of hidden versions go too; what others have stays."""
    bench.do(SetConfig(Scope("."), Config(level="NONE", normalize=True)))
    for number in range(9):
        turn(bench, "z", f"a{number % 2}", "b")
        assert not [*find_violations(bench.tables)]
    contents = [*bench.tables.keys(CONTENT)]
    assert len(contents) == 2


def test_live_versions_are_limited_and_what_is_there_is_still_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "VERSIONS_PER_SUBJECT", 3)
    for number in range(3):
        put(bench, S, f"a{number}")
    error = refused(bench, Register(S, toy("new")))
    assert (error.reason.rule, error.reason.old) == ("VERSIONS_PER_SUBJECT", "3")
    assert error.reason.message == "Subject 's' has 3 live versions"
    assert put(bench, S, "a1").number == 2
    bench.do(DeleteVersion(S, 1))
    assert put(bench, S, "new").number == 4
    assert bench.do(ListVersions(S)).numbers == (2, 3, 4)
    assert bench.do(GetVersion(S, 1, deleted=True)).number == 1


def test_room_is_made_at_the_same_cost_among_few_and_many(monkeypatch: pytest.MonkeyPatch) -> None:
    work = []
    for count in (20, 200):
        monkeypatch.setattr(limits, "VERSIONS_KEPT_PER_SUBJECT", count)
        bench = Bench()
        for _ in range(count + 3):
            turn(bench, "a")
        assert len(states(bench)) == count
        work.append(work_of(bench, Register(S, toy("a"))))
    assert work[0] == work[1]


def test_a_patch_is_no_version_more(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, draft = Subject(".", "com.acme/click/jsonschema"), Draft('{"type":"object"}', "JSON")
    with connect("memory:") as registry:
        for label in ("1-0-0", "1-0-1"):
            registry.ask(Publish(subject, label, draft))
        monkeypatch.setattr(limits, "VERSIONS_PER_SUBJECT", 2)
        with pytest.raises(TooLarge) as no:
            registry.ask(Publish(subject, "1-0-2", draft))
        assert no.value.reason.rule == "VERSIONS_PER_SUBJECT"
        patched = registry.ask(Publish(subject, "1-0-1", Draft('{"title":"x"}', "JSON"), patch=True)).answer
        assert (patched.patched, patched.schema.revision) == (True, 1)
