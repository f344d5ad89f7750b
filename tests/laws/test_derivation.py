"""A derived version has all of the version it is made of but what is said, and is refused what a registration is refused."""

from typing import Any

import pytest

from tests.laws.toy import OTHER, Bench, S, put, toy
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import InvalidRules, InvalidSubject, NotPermitted, Refusal
from treaty.core.schema import VERSION_PROPERTY, Metadata, Reference, Rule, RuleSet


def rule(name: str, type_: str = "T", mode: str = "") -> Rule:
    return Rule(name, mode=mode, type=type_)


OWNED = Metadata(tags=(("**", ("PII",)),), properties=(("owner", "me"),), sensitive=("owner",))
RULES = RuleSet(
    migration=(rule("m1"), rule("m2")),
    domain=(rule("d1"), rule("d2")),
    encoding=(rule("e1"), rule("e2")),
    enable_at="later",
)
NEW = Metadata(properties=(("team", "x"),))


def without(*names: str) -> RuleSet:
    """The rules of the first version but these."""
    groups = (RULES.migration, RULES.domain, RULES.encoding)
    migration, domain, encoding = (tuple(rule for rule in group if rule.name not in names) for group in groups)
    return RuleSet(migration, domain, encoding, "later")


CHANGES: dict[str, tuple[dict[str, Any], Metadata, RuleSet | None]] = {
    "nothing": ({}, OWNED, RULES),
    "metadata": ({"metadata": NEW}, NEW, RULES),
    "no metadata": ({"metadata": Metadata()}, Metadata(), RULES),
    "rules": ({"rules": RuleSet(domain=(rule("z"),))}, OWNED, RuleSet(domain=(rule("z"),))),
    **{f"without {name}": ({"remove_rules": (name, "unknown")}, OWNED, without(name)) for name in ("m1", "d2", "e1")},
    "with others": (
        {"merge_rules": RuleSet(migration=(rule("m3"),), encoding=(rule("e1", "U"),))},
        OWNED,
        RuleSet((*RULES.migration, rule("m3")), RULES.domain, (rule("e2"), rule("e1", "U")), enable_at="later"),
    ),
    "one rule in another group": (
        {"remove_rules": ("d1",), "merge_rules": RuleSet(encoding=(rule("d1"),), enable_at="now")},
        OWNED,
        RuleSet(RULES.migration, (rule("d2"),), (*RULES.encoding, rule("d1")), enable_at="now"),
    ),
    "without any": ({"rules": RuleSet(), "metadata": NEW}, NEW, RuleSet()),
}
"""What is said, and the metadata and rules that the new version has."""


@pytest.fixture
def bench() -> Bench:
    """A registry with a version that has everything, and a later one without."""
    bench = Bench()
    put(bench, OTHER, "o")
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    references, imports = (Reference("r", OTHER.name, 1),), (("file", '["f"]'),)
    bench.do(Register(S, toy("a", references=references, imports=imports, metadata=OWNED, rules=RULES)))
    bench.do(Register(S, toy("b", metadata=NEW, rules=RuleSet(domain=(rule("other"),)))))
    return bench


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("number", [0, 3])
def test_a_derived_version_is_its_original_but_for_what_is_said(bench: Bench, name: str, number: int) -> None:
    members, metadata, rules = CHANGES[name]
    original, now = bench.do(GetVersion(S, 1)), 1_000 + bench.tables.sequence
    copy = bench.do(Derive(S, 1, number=number, **members)).version
    assert bench.do(GetVersion(S, -1)).guid == copy.guid
    assert (copy.number, copy.ordinal, copy.time) == (3, 2, now)
    for member in ("subject", "format", "text", "references", "imports", "type_name"):
        assert getattr(copy, member) == getattr(original, member)
    numbered = tuple(sorted((*metadata.properties, (VERSION_PROPERTY, "3"))))
    assert copy.metadata == Metadata(metadata.tags, numbered, metadata.sensitive)
    assert copy.rules == rules
    assert bench.do(GetVersion(S, 1)) == original


REFUSED: dict[str, tuple[list[Request[Any]], Request[Any], type[Refusal], str]] = {
    "read-only": ([SetMode(Scope(*S), "READONLY")], Derive(S, 1, metadata=NEW), NotPermitted, "MODE"),
    "importing": ([SetMode(Scope(*S), "IMPORT", force=True)], Derive(S, 1, metadata=NEW), NotPermitted, "MODE"),
    "a name twice after merging": (
        [],
        Derive(S, 1, merge_rules=RuleSet(encoding=(rule("d1"),))),
        InvalidRules,
        "RULE_INVALID",
    ),
    "a bad rule to merge": ([], Derive(S, 9, merge_rules=RuleSet(domain=(rule("1x"),))), InvalidRules, "RULE_INVALID"),
    "rules and rules to merge": ([], Derive(S, 1, rules=RULES, merge_rules=RuleSet()), InvalidRules, "RULES_TWICE"),
    "rules and rules to remove": ([], Derive(S, 1, rules=RULES, remove_rules=("d1",)), InvalidRules, "RULES_TWICE"),
    "a bad name": ([], Derive(Subject(".", "__GLOBAL"), 1), InvalidSubject, "SUBJECT_NAME"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_derivation_is_refused_says_which_rule(bench: Bench, name: str) -> None:
    requests, request, kind, rule_ = REFUSED[name]
    for before in requests:
        bench.do(before)
    refusal = bench.verdict(request, "asked")
    assert isinstance(refusal, kind)
    assert refusal.reason.rule == rule_
