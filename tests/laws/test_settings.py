"""The law of config, modes, contexts and what they put into new versions."""

from dataclasses import fields, replace

import pytest

from tests.laws.toy import OTHER, Bench, S, put, toy
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, GetVersion
from treaty.core.refusals import InvalidSchema, NotPermitted, SettingNotFound, SubjectNotFound
from treaty.core.schema import Metadata, Rule, RuleSet


def test_readonly_stops_changes_but_not_what_is_there(bench: Bench) -> None:
    put(bench, S, "a")
    bench.do(SetMode(Scope(*S), "READONLY"))

    assert not bench.do(Register(S, toy("a"))).created
    for request in (Register(S, toy("b?")), DeleteSubject(S), SetConfig(Scope(*S), Config(level="NONE"))):
        with pytest.raises(NotPermitted, match="read-only"):
            bench.do(request)


def test_import_says_ids_and_numbers(bench: Bench) -> None:
    bench.do(SetMode(Scope("."), "IMPORT"))
    imported = put(bench, S, "a", schema_id=41, number=7)
    put(bench, S, "q", schema_id=42, number=3)
    with pytest.raises(NotPermitted, match="Overwrite"):
        put(bench, OTHER, "z", schema_id=41)
    with pytest.raises(NotPermitted, match="read-write"):
        put(bench, S, "b")
    bench.do(SetMode(Scope("."), "READWRITE"))
    with pytest.raises(NotPermitted, match="import mode"):
        put(bench, S, "n", schema_id=50)
    following = put(bench, S, "a", "b?")

    assert (imported.schema_id, imported.number) == (41, 7)
    assert (following.schema_id, following.number) == (43, 8)
    assert bench.do(ListVersions(S)).numbers == (3, 7, 8)
    assert bench.do(GetVersion(S, LATEST)).number == 8


def test_import_wants_an_empty_scope_and_purges_what_was_deleted(bench: Bench) -> None:
    put(bench, S, "a")
    with pytest.raises(NotPermitted, match="existing subjects"):
        bench.do(SetMode(Scope(*S), "IMPORT"))
    bench.do(DeleteSubject(S))
    bench.do(SetMode(Scope(*S), "IMPORT"))

    with pytest.raises(SubjectNotFound):
        bench.do(ListVersions(S, "all"))


def test_config_chain(bench: Bench) -> None:
    assert bench.do(GetConfig(Scope("."))).config.level == "BACKWARD"
    bench.do(SetConfig(Scope("*"), Config(level="FORWARD")))
    assert bench.do(GetConfig(Scope(".", "s"), resolve=True)).config.level == "FORWARD"
    bench.do(SetConfig(Scope("."), Config(level="NONE", normalize=True)))
    assert bench.do(GetConfig(Scope(".", "s"), resolve=True)).config.level == "NONE"
    with pytest.raises(SettingNotFound):
        bench.do(GetConfig(Scope(".", "s")))
    bench.do(SetConfig(Scope(".", "s"), Config(alias="t")))
    own = bench.do(GetConfig(Scope(".", "s"), resolve=True)).config
    assert (own.level, own.normalize, own.alias) == ("NONE", True, "t")
    bench.do(SetConfig(Scope(".", "s"), Config(level="FULL"), clear=("alias",)))
    assert bench.do(DeleteConfig(Scope(".", "s"))).config == Config(level="FULL")
    with pytest.raises(SettingNotFound):
        bench.do(DeleteConfig(Scope(".", "s")))


def test_a_subject_takes_what_its_config_leaves_out_from_the_root_and_not_from_its_context(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(group="root", validate_fields=True)))
    bench.do(SetConfig(Scope(".c"), Config(level="FULL", group="context", normalize=True)))

    above = bench.do(GetConfig(Scope(".c", "s"), resolve=True)).config
    assert (above.group, above.normalize, above.validate_fields) == ("context", True, None)
    bench.do(SetConfig(Scope(".c", "s"), Config(level="NONE")))
    own = bench.do(GetConfig(Scope(".c", "s"), resolve=True)).config
    assert (own.level, own.group, own.normalize, own.validate_fields) == ("NONE", "root", None, True)


def config(word: str, **members: object) -> Config:
    metadata, rules = (Metadata(properties=(("owner", word),)), RuleSet(domain=(Rule(word, type="CEL", mode="WRITE"),)))
    whole = Config(
        default_metadata=metadata, override_metadata=metadata, default_rules=rules, override_rules=rules, group=word
    )
    return replace(whole, **members)  # type: ignore[arg-type]


ABOVE = config(
    "above", level="FULL", policy="LENIENT", validators=("NAME_SHORT",), normalize=True, validate_fields=True,
    validate_new_schemas=True, validate_rules=True,
)  # fmt: skip
OWN = config(
    "own", level="NONE", policy="LOGICAL", validators=(), normalize=False, validate_fields=False,
    validate_new_schemas=False, validate_rules=False,
)  # fmt: skip
MEMBERS = [one.name for one in fields(Config) if getattr(OWN, one.name) is not None]
FILLED = {
    "level", "policy", "group", "validators", "normalize", "validate_fields", "validate_new_schemas", "validate_rules",
}  # fmt: skip
"""What a subject takes from the root where its own config leaves it out; metadata and rules stay unset."""


def test_each_member_that_a_subject_leaves_out_is_that_of_the_root(bench: Bench) -> None:
    """Whichever other members it has of its own."""
    bench.do(SetConfig(Scope("."), ABOVE))
    for member in MEMBERS:
        bench.do(SetConfig(Scope(*S), OWN))
        bench.do(SetConfig(Scope(*S), Config(), (member,)))
        found = bench.do(GetConfig(Scope(*S), resolve=True)).config
        expected = replace(OWN, **{member: getattr(ABOVE, member) if member in FILLED else None})
        assert {one: getattr(found, one) for one in MEMBERS} == {one: getattr(expected, one) for one in MEMBERS}


def test_validators_of_the_root_hold_in_a_subject_with_a_config_of_its_own(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(validators=("NAME_SHORT",))))
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    with pytest.raises(InvalidSchema):
        put(bench, S, "abcdefghi")
    bench.do(SetConfig(Scope(*S), Config(validators=())))
    assert put(bench, S, "abcdefghi").number == 1


def test_mode_chain(bench: Bench) -> None:
    bench.do(SetMode(Scope("."), "READONLY"))
    bench.do(SetMode(Scope(".", "s"), "READWRITE"))

    assert bench.do(GetMode(Scope(".", "t"), resolve=True)).mode == "READONLY"
    with pytest.raises(SettingNotFound):
        bench.do(GetMode(Scope(".", "t")))
    assert bench.do(DeleteMode(Scope("."), recursive=True)).mode == "READONLY"
    assert bench.do(GetMode(Scope(".", "s"), resolve=True)).mode == "READWRITE"


def test_normalised_texts_are_one_schema(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(normalize=True)))
    put(bench, S, "b", "a")

    assert put(bench, S, "a", "b").number == 1
    assert bench.do(GetVersion(S, 1)).text == '["a","b"]'


def test_defaults_and_overrides_of_metadata_and_rules(bench: Bench) -> None:
    under, over = Metadata(properties=(("owner", "x"), ("tier", "3"))), Metadata(properties=(("tier", "1"),))
    rules = RuleSet(domain=(Rule("r", type="CEL", mode="WRITE"),))
    bench.do(SetConfig(Scope("."), Config(default_metadata=under, override_metadata=over, default_rules=rules)))
    told = bench.do(Register(S, toy("a", metadata=Metadata(properties=(("owner", "me"),))))).version

    assert told.metadata == Metadata(properties=(("owner", "me"), ("tier", "1")))
    assert told.rules == rules
