"""A refusal says its rule, the member of the request that it is about and what would be allowed; at its limit a request is taken."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.test_source_edges import define
from tests.laws.tied import NEXT, TOPIC, weak
from tests.laws.timed import TimedBench
from tests.laws.toy import OTHER, S, ToyGrammar, toy
from treaty.core import limits
from treaty.core.command import Decision
from treaty.core.messages import groups, transfers
from treaty.core.messages.associations import Associate, AssociationSpec, ImportedAssociation, Resource
from treaty.core.messages.metastore import sources
from treaty.core.messages.metastore.deleted_topics import LeaseTopics
from treaty.core.messages.metastore.kept_files import CheckpointName, ListKeptFiles
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.search import Search
from treaty.core.messages.settings import Config, Scope, SetMode
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft, Rule, RuleSet
from treaty.core.schema_engine import Answer, EntriesFound, FindEntries, ParsedSchema, Question
from treaty.core.sources import SourceColumn

GROUP = Subject(".imp", "g")
A, B, C = toy("a?"), toy("b?"), toy("c?")
IMPORTED = Subject(".imp", "v")
GUID = ImportedAssociation("0b5f4a3c-1111-4222-8333-444455556666")
SETTINGS = groups.GroupSettings("pravega")


class LabelledToys(ToyGrammar):
    """Toys that contain the types that they have as fields; a search of them has no hit."""

    def ask(self, question: Question) -> Answer | None:
        if isinstance(question, FindEntries):
            return EntriesFound((), 0)
        answer = super().ask(question)
        return replace(answer, type_names=answer.fields) if isinstance(answer, ParsedSchema) else answer


@pytest.fixture(scope="module")
def bench() -> TimedBench:
    """A group with the ordinals 5 and 7 and the encoding 3 in mode IMPORT, subjects with a version, a resource, a source, a topic that goes."""
    bench = TimedBench()
    bench.engine = LabelledToys()
    for request in (
        SetMode(Scope(".imp"), "IMPORT", force=True),
        transfers.ImportSubject(GROUP, SETTINGS),
        version(A, 5, 6),
        version(B, 7, 8),
        transfers.ImportEncoding(GROUP, 3, 5),
        Register(S, A),
        Register(OTHER, B),
        Associate(TOPIC, (weak(),)),
        Register(IMPORTED, C, schema_id=50),
        Associate(Resource("imported", "lkc", "id-3"), (weak(IMPORTED, given=GUID),)),
        define("there"),
        define("goes"),
        sources.DropSource("goes", delete_topic=True),
    ):
        bench.do(request)
    lease = bench.do(LeaseTopics("main", "h")).lease
    assert lease is not None
    bench.now += limits.DROP_GRACE + 1
    bench.do(LeaseTopics("main", "h", lease.epoch, begin=("goes",)))
    return bench


def version(draft: Draft, ordinal: int = 8, number: int = 9, **members: Any) -> transfers.ImportVersion:
    return transfers.ImportVersion(GROUP, draft, ordinal, number, **members)


def with_number(name: str, value: int) -> transfers.ImportVersion:
    members: dict[str, Any] = {name: value}
    return replace(version(C), **members)


def encoding(encoding_id: int, ordinal: int = 7, codec: str = "") -> transfers.ImportEncoding:
    return transfers.ImportEncoding(GROUP, encoding_id, ordinal, codec)


def highest(
    ordinal: int = -1, encoding: int = -1, types: tuple[tuple[str, str, int], ...] = ()
) -> transfers.ImportSubject:
    return transfers.ImportSubject(GROUP, SETTINGS, transfers.HighestNumbers(ordinal, encoding, types))


def kept_files(count: int) -> ListKeptFiles:
    return ListKeptFiles((CheckpointName(1, 1),), (1,), ("a",) * (count - 2))


def columns(*names: str, **members: Any) -> sources.CreateSource:
    made = define("made")
    return replace(
        made, definition=replace(made.definition, columns=tuple(SourceColumn(name, "INT", **members) for name in names))
    )


GAP, LAST, LONG = limits.ID_GAP, limits.COUNTER, limits.NAME_LENGTH
NOW = TimedBench.now + limits.DROP_GRACE + 1
EMPTY = Draft("", "TOY")
REFUSED: Mapping[str, tuple[Request[Any], str, str, str]] = {
    # imports
    **{
        f"{name} {value}": (with_number(name, value), "IMPORT_NUMBER", f"/{name}", str(value))
        for name, value in (
            ("ordinal", -1), ("ordinal", LAST + 1), ("number", 0), ("number", LAST + 1), ("schema_id", -2), ("schema_id", LAST + 1),
            ("type_version", -2), ("type_version", LAST + 1), ("time", -1), ("revision", -1), ("revision", LAST + 1), ("revision_of", -2),
            ("revision_of", LAST + 1), ("superseded_by", -2), ("superseded_by", LAST + 1),
        )
    },
    "a negative encoding": (encoding(-1), "IMPORT_NUMBER", "/encoding_id", "-1"),
    "an encoding past all": (encoding(LAST + 1), "IMPORT_NUMBER", "/encoding_id", str(LAST + 1)),
    "a state": (version(C, state="gone"), "IMPORT_STATE", "/state", "gone"),
    "a far ordinal": (version(C, 8 + GAP), "ID_GAP", "/ordinal", str(8 + GAP)),
    "a far version of a type": (version(C, type_version=2 + GAP), "ID_GAP", "/type_version", str(2 + GAP)),
    "a far encoding": (encoding(4 + GAP), "ID_GAP", "/encoding_id", str(4 + GAP)),
    "a far highest ordinal": (highest(8 + GAP), "ID_GAP", "/highest/ordinal", str(8 + GAP)),
    "a far highest encoding": (highest(encoding=4 + GAP), "ID_GAP", "/highest/encoding", str(4 + GAP)),
    "a far highest type": (highest(types=(("TOY", "c", GAP),)), "ID_GAP", "/highest/types", str(GAP)),
    "a highest ordinal past all": (highest(LAST + 1), "COUNTER", "/highest/ordinal", str(LAST + 1)),
    "another version": (version(C, 5, 6), "ORDINAL_TAKEN", "/ordinal", "version 6"),
    "a number that another has": (version(C, 8, 6), "NUMBER_TAKEN", "/number", "ordinal 8"),
    "a version of a type that another is": (version(A, type_version=0), "TYPE_VERSION_TAKEN", "/type_version", "0"),
    "an encoding that is another": (encoding(3), "ENCODING_TAKEN", "/encoding_id", "ordinal 7 with the codec ''"),
    "an encoding of what has one": (encoding(4, 5), "ENCODING_TAKEN", "/encoding_id", "ordinal 5 with the codec ''"),
    "a codec": (encoding(4, 7, "gzip"), "CODEC_NOT_FOUND", "/codec", "gzip"),
    "any format": (version(replace(C, format=groups.ANY_FORMAT)), "FORMAT_UNKNOWN", "/schemaType", "any"),
    "one superseded by none": (version(A, 5, 6, superseded_by=9), "SUPERSEDING_MISSING", "/superseded_by", "9"),
    "one superseded by itself": (version(A, 5, 6, superseded_by=5), "SUPERSEDING_MISSING", "/superseded_by", "5"),
    "the future": (version(C, time=NOW + limits.TIME_AHEAD + 1), "TIME_AHEAD", "/time", str(NOW + limits.TIME_AHEAD + 1)),
    "a policy": (
        transfers.ImportSubject(Subject(".imp", "n"), replace(SETTINGS, policy=Config())), "IMPORT_POLICY", "/settings/policy", "",
    ),
    # drafts
    **{
        f"{what} in {type(make(S, A)).__name__}": (make(S, draft), rule, path, new)
        for make in (Register, groups.FindSameVersion, groups.CheckReading, lambda subject, draft: version(draft))
        for what, draft, rule, path, new in (
            ("no text", EMPTY, "SCHEMA_EMPTY", "/schema", ""),
            ("a type that is not there", replace(C, type_name="x"), "TYPE_MISSING", "/type", "x"),
            ("a long type", replace(C, type_name="x" * (LONG + 1)), "NAME_LENGTH", "/type", f"{LONG + 1} characters"),
        )
    },
    "no text anywhere": (groups.FindSameSchema(".", EMPTY), "SCHEMA_EMPTY", "/schema", ""),
    # sources
    "no columns": (columns(), "SOURCE_COLUMNS", "/definition/columns", ""),
    "many columns": (
        columns(*(f"c{at}" for at in range(limits.SOURCE_COLUMNS + 1))), "SOURCE_COLUMNS", "/definition/columns", str(limits.SOURCE_COLUMNS + 1),
    ),
    "a column twice": (columns("a", "A"), "COLUMN_TWICE", "/definition/columns/1", "A"),
    "a role": (columns("a", role="x"), "COLUMN_ROLE", "/definition/columns/0/role", "x"),
    "a bad column": (columns("a`b"), "COLUMN_NAME", "/definition/columns/0/name", "a`b"),
    "a long column": (columns("é" * (LONG + 1)), "NAME_LENGTH", "/definition/columns/0/name", ""),
    "a long source": (define("é" * (LONG + 1), place="p"), "NAME_LENGTH", "/definition/name", ""),
    "a long type of a column": (sources.CreateType("é" * (LONG + 1), "INT"), "NAME_LENGTH", "/name", ""),
    "a topic that goes": (define("other", place="goes"), "TOPIC_DELETING", "/name", ""),
    "many kept files": (kept_files(limits.KEPT_FILES + 1), "KEPT_FILES", "/incarnations", str(limits.KEPT_FILES + 1)),
    # searches
    **{f"after {after}": (Search("a", after), "SEARCH_AFTER", "/after", after) for after in ("٣", "9" * 19, "-1", "a", " 1", "+1")},
    "a state of a search": (Search("state:x"), "SEARCH_VALUE", "/text", "x"),
    "a kind of a search": (Search("kind:x"), "SEARCH_VALUE", "/text", "x"),
    "a term": (Search("odd:x"), "SEARCH_TERM", "/text", "odd"),
    "no words": (Search(" * "), "SEARCH_EMPTY", "/text", ""),
    "a long search": (Search("x" * (LONG + 1)), "NAME_LENGTH", "/text", ""),
    "many terms": (Search("a " * (limits.SEARCH_TERMS + 1)), "SEARCH_TERMS", "/text", ""),
}  # fmt: skip
"""By what is wrong: a request, the rule that refuses it, the path that it names, and the value there as the refusal says it."""
ACCEPTED: Mapping[str, Request[Any]] = {
    "the last number": version(C, number=LAST, revision=LAST, time=NOW + limits.TIME_AHEAD),
    "the first numbers": version(C, 0, 1, type_version=2, schema_id=9),
    "numbers that are left out": version(C, schema_id=-1, type_version=-1, revision_of=-1, superseded_by=-1),
    "an ordinal as far as it may be": version(C, 7 + GAP),
    "a version of a type as far as it may be": version(C, type_version=1 + GAP),
    "an encoding as far as it may be": encoding(3 + GAP),
    "a highest ordinal as far as it may be": highest(7 + GAP),
    "a highest encoding as far as it may be": highest(encoding=3 + GAP),
    "one superseded by another": version(A, 5, 6, superseded_by=7),
    "a type that is there": version(replace(C, type_name="c")),
    "as many columns as there may be": columns(*(f"c{at}" for at in range(limits.SOURCE_COLUMNS))),
    "a column as long as it may be": columns("é" * LONG),
    "a source as long as it may be": define("é" * LONG, place="p"),
    "a type as long as it may be": sources.CreateType("é" * LONG, "INT"),
    "as many kept files as there may be": kept_files(limits.KEPT_FILES),
    "after the last place": Search("a", "9" * 18),
    "a kind in other letters": Search("kind:QUERY state:Live"),
    "a search as long as it may be": Search("x" * LONG),
    "as many terms as there may be": Search("a " * limits.SEARCH_TERMS),
}
"""The nearest requests that are taken."""


REMEDIES: Mapping[str, tuple[Request[Any], str, str]] = {
    "another subject": (Associate(TOPIC, (weak(OTHER),), update=True), "/subject", "delete the association first"),
    "a type twice": (Associate(NEXT, (weak(), weak())), "/associationType", "each type once"),
    "the id of another resource": (Associate(replace(NEXT, id=TOPIC.id), (weak(),)), "/resourceName", "the resource that has the id"),
    "a guid of another": (Associate(NEXT, (weak(IMPORTED, given=GUID),)), "/guid", "a guid of no association"),
    "a bad guid": (Associate(NEXT, (weak(IMPORTED, given=ImportedAssociation("x")),)), "/guid", "must be a UUID"),
    "a guid outside of imports": (
        Associate(NEXT, (weak(given=GUID),)), "/guid", "may be given in mode IMPORT only, not in READWRITE",
    ),
    "no types": (Associate(NEXT, ()), "/associations", "at least one association"),
    "a frozen weak one": (Associate(NEXT, (weak(frozen=True),)), "/frozen", "STRONG"),
    "no id": (Associate(replace(NEXT, id="\n"), (weak(),)), "/resourceId", "printable characters"),
    "no name": (Associate(replace(NEXT, name="-"), (weak(),)), "/resourceName", "must be a name of printable characters, and not '-'"),
    "another thing": (Associate(replace(NEXT, type="x"), (weak(),)), "/resourceType", "must be 'topic'"),
    "another type": (Associate(NEXT, (weak(kind="x"),)), "/associationType", "must be either 'key' or 'value'"),
    "another lifecycle": (
        Associate(NEXT, (AssociationSpec("value", S, "x"),)), "/lifecycle", "must be one of STRONG, WEAK",
    ),
}  # fmt: skip
"""Requests that associate something wrongly: the path that the refusal names, and what it says to do."""


@pytest.mark.parametrize("what", REMEDIES)
def test_a_refused_association_says_what_to_do(bench: TimedBench, what: str) -> None:
    request, path, remedy = REMEDIES[what]
    verdict = bench.verdict(request, "asked")
    assert isinstance(verdict, Refusal)
    reason = verdict.reason
    assert (reason.rule, reason.path, reason.allowed) == ("ASSOCIATION_INVALID", path, remedy)


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_says_what_it_is_about(bench: TimedBench, what: str) -> None:
    request, rule, path, new = REFUSED[what]
    verdict = bench.verdict(request, "asked")
    assert isinstance(verdict, Refusal)
    reason = verdict.reason
    assert (reason.rule, reason.path, reason.new) == (rule, path, new)
    assert reason.allowed


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_is_nearest_to_a_refusal_is_taken(bench: TimedBench, what: str) -> None:
    assert isinstance(bench.verdict(ACCEPTED[what], "asked"), Decision)


NAMES_OF_RULES: Mapping[str, str] = {
    "": "Missing rule name",
    "there": "Found rule with duplicate name 'there'",
    "r" * (limits.RULE_NAME + 1): "Rule name too long",
    "r" * limits.RULE_NAME: "",
    "1": "Illegal initial character in rule name: 1",
    "-x": "Illegal initial character in rule name: -",
    "a b": "Illegal character in rule name:  ",
    "a.": "Illegal character in rule name: .",
    "_": "",
    "\u00e9-1": "",
}


@pytest.mark.parametrize("name", NAMES_OF_RULES)
def test_a_rule_has_a_name_of_its_own_or_the_refusal_says_what_is_wrong_with_it(bench: TimedBench, name: str) -> None:
    rules = tuple(Rule(each, "CONDITION", "WRITE", "CEL", expr="true") for each in ("there", name))
    verdict = bench.verdict(Register(S, replace(A, rules=RuleSet(domain=rules))), "asked")
    if isinstance(verdict, Refusal):
        reason = verdict.reason
        assert (reason.rule, reason.path, reason.new, reason.message) == (
            "RULE_INVALID",
            "/ruleSet/domainRules/1",
            name,
            NAMES_OF_RULES[name],
        )
        assert reason.allowed.startswith("a name that no other" if name == "there" else "letters, digits, _ and -")
    else:
        assert NAMES_OF_RULES[name] == ""
