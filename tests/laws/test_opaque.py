"""Formats without a plug-in: kept as they are, and admitted or refused without being read."""

import base64
import json
from dataclasses import replace

import pytest

from tests.laws.toy import EMPTY, Bench, S, toy
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import GetVersion, Lookup, VersionFound
from treaty.core.policy import LEVELS, Level
from treaty.core.refusals import Incompatible, InvalidSchema, SchemaNotFound
from treaty.core.schema import CODED, Draft, Reference, opaque_bytes
from treaty.core.state.state_tables import CONTENT, SUBJECT
from treaty.core.state.values import Content

TEXTS = ('  <a b="1"/>\r\n', '<a b="1"/>', "\x00\ufeff\t{ not json", "\U0001f600 ключ", "\ud800")


def xml(text: str) -> Draft:
    return Draft(text, "XML")


def post(bench: Bench, text: str, level: str = "NONE") -> VersionFound:
    """Register; the first one makes the subject at another door, with a level of its own."""
    there = bench.tables.get(SUBJECT, S) is not None
    policy = None if there else Config(level=level)
    return bench.do(Register(S, xml(text), create_with=SubjectCreation("pravega", policy=policy))).version


@EMPTY
def test_a_text_is_kept_to_the_letter_and_is_its_own_identity(bench: Bench) -> None:
    made = [post(bench, text) for text in TEXTS]

    assert [bench.do(GetVersion(S, number)).text for number in range(1, 6)] == list(TEXTS)
    assert len({one.guid for one in made}) == len({one.schema_id for one in made}) == len(TEXTS)
    assert [bench.do(Lookup(S, xml(text))).number for text in TEXTS] == [1, 2, 3, 4, 5]
    assert post(bench, TEXTS[1]).number == 2
    assert not [key for key in bench.tables.keys(CONTENT) if isinstance(bench.tables.get(CONTENT, key), Content)]


def test_a_look_up_finds_no_version_of_another_format(bench: Bench) -> None:
    """It found one of the same text, where it named no type: guids do not cover formats with a plug-in."""
    bench.engine.formats = ("TOY", "OTHER")
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    first, second = toy("a"), replace(toy("a"), format="OTHER")
    bench.do(Register(S, first))
    with pytest.raises(SchemaNotFound):
        bench.do(Lookup(S, second))
    assert bench.do(Register(S, second)).version.number == 2
    assert [bench.do(Lookup(S, one)).number for one in (first, second)] == [1, 2]


@pytest.mark.parametrize(
    ("data", "begin"),
    [(b"a" * 9, ""), (b"\n" * 9, ""), (b'a"\n' * 99, CODED), (b"aaaa,aaaa'\n" * 99, ""), ("\0ключ" * 99, CODED)],
)
def test_a_long_text_of_which_json_escapes_much_is_coded(
    monkeypatch: pytest.MonkeyPatch, data: bytes | str, begin: str
) -> None:
    monkeypatch.setattr("treaty.core.schema.SCHEMA_BYTES", 50)
    bench, sent = Bench(), data.encode() if isinstance(data, str) else data
    draft = Draft("", "XML", data=sent)
    made = bench.do(Register(S, draft, create_with=SubjectCreation("pravega", policy=Config(level="NONE")))).version
    assert made.text.startswith(CODED) is bool(begin)
    assert opaque_bytes(made.text) == sent
    row = len(json.dumps(made.text, ensure_ascii=False).encode())
    assert row <= len(CODED) + 4 * (len(sent) + 2) // 3 + 2
    again = bench.do(Register(S, Draft(sent.decode(), "XML"), create_with=SubjectCreation("pravega")))
    assert (again.created, again.version.ordinal) == (False, 0), "the same as a text"


def test_configured_normalisation_does_not_touch_it(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(normalize=True)))

    assert post(bench, TEXTS[0]).text == TEXTS[0]


@pytest.mark.parametrize("level", [name for name in LEVELS if name != "NONE"])
def test_a_level_that_would_have_to_read_it_refuses(bench: Bench, level: str) -> None:
    post(bench, TEXTS[0], level)

    with pytest.raises(Incompatible) as caught:
        post(bench, TEXTS[1])
    assert caught.value.findings[0].rule == "FORMAT_OPAQUE"
    assert "no plug-in for format XML" in caught.value.reason.details[0]
    assert not bench.do(Check(S, xml(TEXTS[1]))).compatible


def test_allow_any_takes_it_and_deny_all_only_the_first(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(exact_level=Level(deny=True))))
    bench.do(Register(S, xml(TEXTS[0]), create_with=SubjectCreation("pravega")))

    with pytest.raises(Incompatible, match="refuses every change"):
        post(bench, TEXTS[1])
    assert post(bench, TEXTS[0]).number == 1


def test_another_format_is_told_as_such(bench: Bench) -> None:
    post(bench, TEXTS[0], "BACKWARD")

    told = bench.do(Check(S, toy("a")))
    assert told.messages[0] == "Incompatible because of different schema type"
    assert [(one.rule, one.writer, one.reader) for one in told.findings] == [("FORMAT_CHANGED", "XML", "TOY")]


def test_confluents_clients_name_a_format_that_is_here(bench: Bench) -> None:
    for request in (Register(S, xml("<a/>")), Check(S, xml("<a/>"))):
        with pytest.raises(InvalidSchema, match="Invalid schema type XML"):
            bench.do(request)
    bench.do(Register(S, toy("a")))
    with pytest.raises(InvalidSchema, match="Invalid schema type XML"):
        bench.do(Lookup(S, xml("<a/>")))


def test_what_it_refers_to_is_followed_and_guarded(bench: Bench) -> None:
    first = post(bench, TEXTS[0])
    uses = Draft(TEXTS[1], "XML", (Reference("other.xml", "s", 1),))
    made = bench.do(Register(S, uses, create_with=SubjectCreation("pravega"))).version

    assert made.references == uses.references
    assert made.guid != post(bench, TEXTS[1]).guid
    assert first.number == 1


@pytest.mark.parametrize("behind", ["@@", "YQ=", base64.b64encode(b"plain").decode()])
def test_what_looks_coded_and_is_not_is_refused_by_name(bench: Bench, behind: str) -> None:
    creation = SubjectCreation("pravega", policy=Config(level="NONE"))
    with pytest.raises(InvalidSchema, match="is not base64 of bytes that need it") as refused:
        bench.do(Register(S, Draft(CODED + behind, "XML"), create_with=creation))
    assert (refused.value.reason.rule, refused.value.reason.path) == ("OPAQUE_CODING", "/schema")
