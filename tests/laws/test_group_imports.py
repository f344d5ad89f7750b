"""Importers give ordinals, numbers and encoding ids: only in their mode, none that others have, and none far above."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft

S = Subject(".", "g")
INT, LONG = Draft('"int"'), Draft('"long"')
MADE = x.ImportSubject(S, g.GroupSettings("pravega"))


@pytest.fixture
def registry() -> Iterator[Connection]:
    """A group with the ordinals 5 and 7 and the encoding 3, in a context that takes numbers."""
    with connect("memory:") as made:
        made.ask(SetMode(Scope("."), "IMPORT", force=True))
        for request in (MADE, x.ImportVersion(S, INT, 5, 6), x.ImportVersion(S, LONG, 7, 8), x.ImportEncoding(S, 3, 5)):
            made.ask(request)
        yield made


def refused(registry: Connection, request: Request[object]) -> str:
    with pytest.raises(Refusal) as no:
        registry.ask(request)
    assert no.value.reason.allowed
    return no.value.reason.rule


def test_what_others_have_is_given_to_none(registry: Connection) -> None:
    again = (
        MADE,
        x.ImportVersion(S, INT, 5, 6),
        x.ImportVersion(S, LONG, 7, 8, state="soft"),
        x.ImportEncoding(S, 3, 5),
    )
    assert [registry.ask(one).answer.created for one in again] == [False] * 4  # type: ignore[attr-defined]  # of all these
    assert refused(registry, x.ImportVersion(S, LONG, 5, 6)) == "ORDINAL_TAKEN"
    assert refused(registry, x.ImportVersion(S, INT, 5, 9)) == "ORDINAL_TAKEN"
    assert refused(registry, x.ImportVersion(S, LONG, 9, 6)) == "NUMBER_TAKEN"
    assert registry.ask(x.ImportVersion(S, LONG, 1, 6, state="hidden")).answer.created
    assert refused(registry, x.ImportVersion(S, INT, 9, 10, type_version=0)) == "TYPE_VERSION_TAKEN"
    assert refused(registry, x.ImportEncoding(S, 3, 7)) == "ENCODING_TAKEN"
    assert refused(registry, x.ImportEncoding(S, 4, 5)) == "ENCODING_TAKEN"
    assert refused(registry, x.ImportEncoding(S, 4, 7, "gzip")) == "CODEC_NOT_FOUND"


def test_numbers_far_above_the_others_are_refused(registry: Connection) -> None:
    assert refused(registry, x.ImportVersion(S, INT, 1_000_008, 9)) == "ID_GAP"
    assert refused(registry, x.ImportVersion(S, INT, 8, 9, type_version=1_000_002)) == "ID_GAP"
    assert refused(registry, x.ImportEncoding(S, 1_000_004, 7)) == "ID_GAP"
    assert refused(registry, x.ImportSubject(S, MADE.settings, x.HighestNumbers(2**31))) == "COUNTER"
    assert refused(registry, x.ImportVersion(S, INT, -1, 9)) == "IMPORT_NUMBER"


def test_counts_only_rise(registry: Connection) -> None:
    registry.ask(x.ImportVersion(S, LONG, 0, 1))
    registry.ask(x.ImportSubject(S, MADE.settings, x.HighestNumbers(2, 1, (("AVRO", "", 0),))))
    registry.ask(SetMode(Scope("."), "READWRITE"))
    made = registry.ask(Register(S, Draft('"double"'))).answer.version
    assert (made.ordinal, made.type_version) == (8, 3)
    assert registry.assign_encoding("g", 8) == 4


def test_only_the_mode_of_imports_takes_numbers(registry: Connection) -> None:
    registry.ask(SetMode(Scope("."), "READWRITE"))
    for request in (
        x.ImportVersion(S, INT, 9, 10),
        x.ImportEncoding(S, 9, 7),
        x.ImportSubject(Subject(".", "other"), MADE.settings),
        x.ImportSubject(S, MADE.settings, x.HighestNumbers(99)),
    ):
        assert refused(registry, request) == "MODE"
    assert not registry.ask(x.ImportVersion(S, INT, 5, 6)).answer.created, "what is there is no change"


def test_a_schema_is_its_own_version_where_another_one_that_is_alike_was_imported_after_it(
    registry: Connection,
) -> None:
    alike = Subject(".", "alike")
    registry.ask(x.ImportSubject(alike, g.GroupSettings("pravega", identity="normalised")))
    first = Draft('{"type":"object","title":"a"}', "JSON")
    texts = [first, replace(first, text='{"title":"a","type":"object"}')]
    for at, draft in enumerate(texts):
        registry.ask(x.ImportVersion(alike, draft, at, at + 1))
    registry.ask(SetMode(Scope("."), "READWRITE"))
    assert [registry.ask(Register(alike, one)).answer.version.ordinal for one in texts] == [0, 1]


def test_a_version_is_superseded_by_one_that_is_there(registry: Connection) -> None:
    assert refused(registry, x.ImportVersion(S, INT, 5, 6, superseded_by=9)) == "SUPERSEDING_MISSING"
    assert refused(registry, x.ImportVersion(S, INT, 5, 6, superseded_by=5)) == "SUPERSEDING_MISSING"
    registry.ask(x.ImportVersion(S, INT, 5, 6, superseded_by=7))
    there = registry.ask(x.ExportVersions()).answer.versions
    assert [(one.version.ordinal, one.superseded_by) for one in there] == [(5, 7), (7, -1)]


def test_a_version_is_imported_with_the_format_that_it_has(registry: Connection) -> None:
    assert refused(registry, x.ImportVersion(S, Draft('"int"', g.ANY_FORMAT), 8, 9)) == "FORMAT_UNKNOWN"


@pytest.mark.parametrize(("state", "shown"), [("live", 5), ("soft", 5), ("hidden", -1)])
def test_a_hidden_version_supersedes_none_any_more(registry: Connection, state: x.KeptState, shown: int) -> None:
    """A version that was superseded by one that is there is exported with it until that one is hidden."""
    registry.ask(x.ImportVersion(S, LONG, 7, 8, superseded_by=5))
    registry.ask(SetMode(Scope("."), "READWRITE"))
    if state != "live":
        registry.ask(DeleteVersion(S, 6))
    if state == "hidden":
        registry.ask(SetConfig(Scope(*S), Config(level="NONE")))
        assert registry.ask(Register(S, INT)).answer.created
    exported = registry.ask(x.ExportVersions()).answer.versions
    by = {(one.version.ordinal, one.state): one.superseded_by for one in exported}
    assert by[7, "live"] == shown
    assert (5, state) in by
    (superseding,) = (one for one in exported if one.version.ordinal == 5)
    assert superseding.superseded_by == -1
