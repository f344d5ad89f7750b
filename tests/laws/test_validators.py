"""Validators: how they are written, what each shipped one finds in each format, and plug-ins, which are never skipped."""

import sys
from pathlib import Path

import pytest

from tests.laws.test_policy_cases import Engine
from tests.laws.toy import Bench, S, put
from treaty.core.messages.compatibility import Check
from treaty.core.messages.policies import CreatePolicy
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.policy import ValidatorCall, parse_validator, split_validators
from treaty.core.refusals import InvalidSchema, InvalidSetting, NotPermitted, TooLarge
from treaty.core.schema import Draft, Metadata
from treaty.core.schema_engine import InspectSchema, ResolvedSchema
from treaty.core.state.rows import Row
from treaty.core.state.values import PolicyValue
from treaty.formats.budget import StepBudget, StepsError
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.formats.validators.registry import find_validators, names_of_validators

AVRO = """{"type": "record", "name": "Order", "doc": "An order.", "fields": [
  {"name": "id", "type": "int", "doc": "Its number."},
  {"name": "shipTo", "type": {"type": "record", "name": "place", "fields": [{"name": "city", "type": "string", "doc": "Where."}]}}
]}"""
JSON = """{"type": "object", "description": "An order.", "properties": {
  "id": {"type": "integer", "description": "Its number."},
  "shipTo": {"type": "object", "properties": {"city": {"type": "string", "description": "Where."}}}
}}"""
PROTOBUF = """syntax = "proto3";
// An order.
message Order {
  // Its number.
  int32 id = 1;
  place shipTo = 2;
  message place { string city = 1; }
}"""
TEXTS = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTOBUF}
FOUND = {
    ("documentation(field)", "AVRO"): ["documentation /fields/1 3:3"],
    ("documentation", "AVRO"): ["documentation /fields/1/type 3:30", "documentation /fields/1 3:3"],
    ("documentation(field)", "JSON"): ["documentation /properties/shipTo 3:13"],
    ("documentation(type)", "JSON"): [],
    ("documentation(field)", "PROTOBUF"): ["documentation Order.shipTo 6:3", "documentation Order.place.city 7:19"],
    ("documentation", "PROTOBUF"): [
        "documentation Order.shipTo 6:3", "documentation Order.place 7:3", "documentation Order.place.city 7:19"
    ],
    ("naming(type=PascalCase,field=snake_case)", "AVRO"): ["naming /fields/1/type 3:30", "naming /fields/1 3:3"],
    ("naming(field=snake_case)", "JSON"): ["naming /properties/shipTo 3:13"],
    ("naming(type=PascalCase)", "PROTOBUF"): ["naming Order.place 7:3"],
    ("naming(field=camelCase)", "PROTOBUF"): [],
    ("max-depth(1)", "AVRO"): ["max-depth /fields/1/type/fields/0 3:77"],
    ("max-depth(1)", "JSON"): ["max-depth /properties/shipTo/properties/city 3:55"],
    ("max-depth(1)", "PROTOBUF"): ["max-depth Order.place.city 7:19"],
    ("max-depth(2)", "AVRO"): [],
    ("max-size(100)", "JSON"): ["max-size  0:0"],
    ("max-size(1000)", "JSON"): [],
    ("required-metadata(owner,team)", "AVRO"): ["required-metadata /metadata/properties/team 0:0"],
    ("repo.reject", "PROTOBUF"): ["repo.reject  0:0"],
    ("lint:FIELD_DOC_MISSING", "AVRO"): ["FIELD_DOC_MISSING /fields/1 3:3"],
    ("FIELD_DOC_MISSING", "JSON"): ["FIELD_DOC_MISSING /properties/shipTo 3:13"],
}  # fmt: skip
"""What a validator finds in the text of a format: rule, path, line and column."""


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.engine = Engine()
    bench.engine.validators = names_of_validators(find_formats().validators(), find_validators())
    return bench


def demand(bench: Bench, *validators: str, level: str = "NONE") -> None:
    bench.do(SetConfig(Scope(*S), Config(level=level, validators=validators)))


def draft(text: str = AVRO, format_: str = "AVRO", **properties: str) -> Draft:
    return Draft(text, format_, metadata=Metadata(properties=tuple(properties.items())) if properties else None)


@pytest.mark.parametrize(("validator", "format_"), FOUND, ids=lambda one: one)
def test_a_shipped_validator_names_itself_and_the_place(bench: Bench, validator: str, format_: str) -> None:
    demand(bench, validator)
    sent, expected = draft(TEXTS[format_], format_, owner="ada", team=" "), FOUND[validator, format_]
    assert bench.do(Check(S, sent)).compatible is not bool(expected)
    if not expected:
        assert bench.do(Register(S, sent)).created
        return
    with pytest.raises(InvalidSchema) as caught:
        bench.do(Register(S, sent))
    assert [f"{one.rule} {one.path} {one.line}:{one.column}" for one in caught.value.faults] == expected
    assert all(one.expected for one in caught.value.faults)


@pytest.mark.parametrize("format_", TEXTS)
def test_fields_of_versions_in_the_range_stay(bench: Bench, format_: str) -> None:
    """A field that an older version had is missed where the range holds that version, once and for the newest that has it."""
    text = TEXTS[format_]
    without_id = {
        "AVRO": text.replace('{"name": "id", "type": "int", "doc": "Its number."},', ""),
        "JSON": text.replace('"id": {"type": "integer", "description": "Its number."},', ""),
        "PROTOBUF": text.replace("int32 id = 1;", ""),
    }[format_]
    other = without_id.replace("An order.", "Nothing else.").replace("city", "town")
    demand(bench)
    for each in (text, without_id):
        bench.do(Register(S, draft(each, format_)))
    for level, missed in (("BACKWARD", ["city"]), ("BACKWARD_TRANSITIVE", ["city", "id"]), ("NONE", [])):
        demand(bench, "no-removed-fields", level=level)
        told = [one for one in bench.do(Check(S, draft(other, format_))).findings if one.rule == "no-removed-fields"]
        assert [
            next(name for name in ("city", "id") if name in one.path or f".{name}'" in one.sentence) for one in told
        ] == missed
        assert ["version 2" in one.sentence for one in told] == [True, False][: len(missed)]


def test_all_of_several_are_told_and_the_first_decides(bench: Bench) -> None:
    demand(bench, "repo.reject", "documentation(field)", "required-metadata(owner)")
    with pytest.raises(InvalidSchema) as caught:
        bench.do(Register(S, draft()))
    assert caught.value.reason.rule == "repo.reject"
    assert [one.rule for one in caught.value.faults] == ["repo.reject", "documentation", "required-metadata"]


def test_opaque_texts_have_metadata_and_a_size_and_no_elements(bench: Bench) -> None:
    demand(bench, "required-metadata(owner)", "max-size(4)")
    made = SubjectCreation(origin="pravega")
    bench.do(Register(S, draft("<a>", "XML", owner="ada"), create_with=made))
    with pytest.raises(InvalidSchema) as caught:
        bench.do(Register(S, draft("<ab>", "XML", team="a"), create_with=made))
    assert [one.rule for one in caught.value.faults] == ["required-metadata"]
    demand(bench, "documentation")
    with pytest.raises(NotPermitted, match="no plug-in for format XML"):
        bench.do(Register(S, draft("<b>", "XML"), create_with=made))


@pytest.mark.parametrize(
    ("validator", "rule", "message"),
    [
        ("nobody", "VALIDATOR_MISSING", "There is no validator nobody"),
        ("lint:NOBODY", "VALIDATOR_MISSING", "There is no validator lint:NOBODY"),
        ("policy:nobody", "VALIDATOR_MISSING", "There is no validator policy:nobody"),
        ("max-depth(1", "VALIDATOR_MISSING", "is not how a validator is written"),
        ("(a)", "VALIDATOR_MISSING", "is not how a validator is written"),
        ("max-depth", "VALIDATOR_PARAMETERS", "a number from 1 on"),
        ("max-size(-1)", "VALIDATOR_PARAMETERS", "a number from 1 on"),
        ("documentation(table)", "VALIDATOR_PARAMETERS", "'table' is not one of type, field"),
        ("naming", "VALIDATOR_PARAMETERS", "it needs parameters such as type="),
        ("naming(field=shouting)", "VALIDATOR_PARAMETERS", "'shouting' is not one of snake_case"),
        ("required-metadata", "VALIDATOR_PARAMETERS", "names of metadata properties"),
        ("repo.reject(1)", "VALIDATOR_PARAMETERS", "it takes no parameters"),
        ("DOC_MISSING(1)", "VALIDATOR_PARAMETERS", "it takes no parameters"),
        ("policy:FULL(1)", "VALIDATOR_PARAMETERS", "it takes no parameters"),
        ("policy:ForwardTill", "VALIDATOR_PARAMETERS", "it needs 1 ordinals"),
    ],
)
def test_what_can_not_run_is_refused_where_it_is_named(bench: Bench, validator: str, rule: str, message: str) -> None:
    nested = validator == "policy:nobody"  # a named policy names no other, whether it is there or not
    requests = [SetConfig(Scope(), Config(validators=(validator,)))]
    for request in (*requests, *([] if nested else [CreatePolicy("p", PolicyValue(validators=(validator,)))])):
        with pytest.raises(InvalidSetting, match=message) as caught:
            bench.do(request)
        assert caught.value.reason.rule == rule
        assert caught.value.reason.allowed


def test_policies_and_versions_of_validators_have_limits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for names in (("repo.reject",) * 101, (f"required-metadata({'a' * 1_000})",)):
        with pytest.raises(TooLarge):
            demand(bench, *names)
    bench.do(Register(S, draft()))
    monkeypatch.setattr("treaty.core.handlers.validators.VALIDATED_VERSIONS", 0)
    demand(bench, "no-removed-fields", level="BACKWARD")
    with pytest.raises(TooLarge) as caught:
        bench.do(Register(S, draft(AVRO.replace("An", "One"))))
    assert caught.value.reason.rule == "VALIDATED_VERSIONS"


@pytest.mark.parametrize(("level", "compared"), [("BACKWARD", 1), ("BACKWARD_TRANSITIVE", 4)])
@pytest.mark.parametrize("limit", ["VALIDATED_VERSIONS", "VALIDATED_CHARACTERS"])
def test_validators_get_as_much_of_all_earlier_versions_as_the_limits_say_and_no_more(
    bench: Bench, level: str, compared: int, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits hold for the versions of a level together, however small each of them is."""
    texts = [AVRO.replace("An order", f"{number} orders") for number in range(5)]
    sizes = [len(bench.do(Register(S, draft(text))).version.text) for text in texts[:-1]]
    demand(bench, "no-removed-fields", level=level)
    used = compared if limit == "VALIDATED_VERSIONS" else sum(sizes[-compared:])
    monkeypatch.setattr(f"treaty.core.handlers.validators.{limit}", used - 1)
    with pytest.raises(TooLarge) as refused:
        bench.do(Register(S, draft(texts[-1])))
    assert refused.value.reason.rule == limit
    monkeypatch.setattr(f"treaty.core.handlers.validators.{limit}", used)
    assert bench.do(Register(S, draft(texts[-1]))).version.number == 5


def test_the_written_form_is_parsed_and_listed() -> None:
    assert parse_validator(" naming( type = PascalCase ,field=snake_case) ") == ValidatorCall(
        "naming", ("type = PascalCase", "field=snake_case")
    )
    assert parse_validator("DOC_MISSING") == ValidatorCall("DOC_MISSING")
    assert split_validators(" a, b(c, d=e) ,,policy:f(1,2),") == ("a", "b(c, d=e)", "policy:f(1,2)")
    assert split_validators("") == split_validators(" , ") == ()


# ------------------------------------------------------------------------------------------------------- plug-ins


PLUGIN = """
from treaty.core.finding import Diagnostic
from treaty.formats.validators import Validator


def find(schema, versions, parameters):
    if parameters == ("loop",):
        while True:
            [*schema.elements()]
    if parameters == ("fail",):
        raise KeyError("lost")
    for version in versions:
        if version.metadata.get("owner") != schema.metadata.get("owner"):
            yield Diagnostic("anything", "/owner", f"version {version.number} has another owner", "the same owner")


OWNER = Validator("same-owner", "The owner stays.", find, check=lambda parameters: None, reads_versions=True)
"""


@pytest.fixture
def plugged(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose engine knows the validators of an installed package, and one that can't be imported."""
    info = tmp_path / "acme_rules-1.0.dist-info"
    info.mkdir()
    (tmp_path / "acme_rules.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[treaty.validators]\nsame-owner = acme_rules:OWNER\nbroken = acme_rules:NOTHING\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_rules", raising=False)
    bench.engine.parser = FormatEngine(find_formats())
    bench.engine.validators = names_of_validators(find_formats().validators(), find_validators())
    return bench


def test_a_plug_in_sees_metadata_and_versions(plugged: Bench) -> None:
    demand(plugged, "same-owner", level="BACKWARD")
    plugged.do(Register(S, draft(owner="ada")))
    with pytest.raises(InvalidSchema) as caught:
        plugged.do(Register(S, draft(AVRO.replace("An", "One"), owner="bob")))
    assert [str(one) for one in caught.value.faults] == [
        "version 1 has another owner at /owner; expected the same owner"
    ]
    assert caught.value.reason.rule == "same-owner"
    assert plugged.do(Register(S, draft(AVRO.replace("An", "One"), owner="ada"))).created


def test_a_node_without_the_plug_in_names_the_package_and_writes_nothing(plugged: Bench) -> None:
    plugged.do(CreatePolicy("owned", PolicyValue(validators=("same-owner",))))
    for config in (Config(validators=("same-owner",)), Config(follows="owned")):
        plugged.engine.validators = names_of_validators(find_formats().validators(), find_validators())
        plugged.do(SetConfig(Scope(*S), config))
        plugged.engine.validators = find_formats().validators()
        for request in (Register(S, draft()), Check(S, draft())):
            with pytest.raises(NotPermitted, match="the package acme-rules is missing") as caught:
                plugged.do(request)
            assert caught.value.reason.allowed == "a node that has the package acme-rules, or a policy without it"


@pytest.mark.parametrize(
    ("word", "message"), [("fail", "the validator failed: KeyError: 'lost'"), ("loop", "VALIDATOR_STEPS")]
)
def test_a_validator_that_fails_or_never_ends_refuses_the_schema(
    plugged: Bench, monkeypatch: pytest.MonkeyPatch, word: str, message: str
) -> None:
    monkeypatch.setattr("treaty.formats.validators.inspection.VALIDATOR_STEPS", 1_000)
    demand(plugged, f"same-owner({word})")
    with pytest.raises(InvalidSchema, match=message):
        plugged.do(Register(S, draft()))


def test_a_plug_in_that_can_not_be_imported_is_refused_by_its_package(plugged: Bench) -> None:
    with pytest.raises(InvalidSetting, match="of the package acme-rules can't be imported"):
        demand(plugged, "broken")


def test_a_plug_in_never_runs_in_the_event_loop(plugged: Bench) -> None:
    question = InspectSchema(ResolvedSchema("AVRO", AVRO), ("same-owner",))
    with pytest.raises(StepsError):
        plugged.engine.parser.answer(question, StepBudget())
    assert plugged.engine.parser.answer(question).faults == ()


def test_a_validator_of_a_policy_that_is_gone_admits_nothing() -> None:
    """No command removes a policy that is in use; a row that was changed by hand may."""
    bench = Bench()
    put(bench, S, "a")
    bench.do(CreatePolicy("gold", PolicyValue()))
    bench.do(SetConfig(Scope(*S), Config(validators=("policy:gold",))))
    bench.apply((Row("policy", ("gold",), None),))
    with pytest.raises(
        NotPermitted, match="There is no policy gold, by which a validator of subject s compares"
    ) as gone:
        put(bench, S, "a", "b?")
    assert (gone.value.reason.rule, gone.value.reason.new) == ("VALIDATOR_MISSING", "policy:gold")
