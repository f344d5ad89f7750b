"""Every built-in policy with every format: which change it admits, which it refuses, and what it finds; as data."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.laws.toy import Bench, S
from treaty.core.answers import Config
from treaty.core.policy import BUILT_IN_POLICIES, LEVELS, built_in_level
from treaty.core.refusals import Incompatible
from treaty.core.requests import Check, Register, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.core.schema_engine import Answer, Question
from treaty.core.validators import parse_validator
from treaty.formats.engine import FormatEngine
from treaty.formats.id_schemes import find_id_schemes
from treaty.formats.registry import find_formats

CASES = Path(__file__).parents[1] / "cases" / "policies"
FORMATS = {"avro": ("AVRO", ".avsc"), "jsonschema": ("JSON", ".json"), "protobuf": ("PROTOBUF", ".proto")}


class Engine:
    """The real formats, asked at once."""

    id_schemes = find_id_schemes().packages

    formats = find_formats().names
    validators: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.parser = FormatEngine(find_formats())

    def ask(self, question: Question) -> Answer:
        return self.parser.answer(question)


ENGINE = Engine()


class Case(NamedTuple):
    """Versions that are there, a schema that would follow them, and what a policy finds; nothing where it admits it."""

    folder: str
    policy: str
    versions: list[str]
    new: str
    findings: list[list[str]]

    def draft(self, name: str) -> Draft:
        format_, suffix = FORMATS[self.folder]
        return Draft((CASES / self.folder / f"{name}{suffix}").read_text(), format_)


def read_cases() -> list[Case]:
    read: list[tuple[str, list[dict[str, Any]]]] = [
        (folder, json.loads((CASES / folder / "verdicts.json").read_text())) for folder in FORMATS
    ]
    return [Case(folder, **row) for folder, rows in read for row in rows]


@pytest.mark.parametrize(
    "case", read_cases(), ids=lambda case: f"{case.folder}-{case.policy}-{len(case.versions)}-{case.new}"
)
def test_a_policy_admits_or_refuses_a_change(case: Case) -> None:
    bench = Bench()
    bench.engine = ENGINE
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    for version in case.versions:
        bench.do(Register(S, case.draft(version)))
    call = parse_validator(case.policy)
    level = built_in_level(call.name, call.parameters)
    bench.do(SetConfig(Scope(*S), Config(exact_level=level)))
    told = bench.do(Check(S, case.draft(case.new)))
    assert [[one.rule, one.path] for one in told.findings] == case.findings
    assert told.compatible is not bool(case.findings)
    if told.compatible:
        assert bench.do(Register(S, case.draft(case.new))).created
    else:
        with pytest.raises(Incompatible) as caught:
            bench.do(Register(S, case.draft(case.new)))
        assert caught.value.findings == told.findings


@pytest.mark.parametrize("folder", FORMATS)
def test_every_policy_admits_something_and_refuses_something(folder: str) -> None:
    seen: dict[str, set[bool]] = {}
    for case in read_cases():
        if case.folder == folder:
            seen.setdefault(parse_validator(case.policy).name, set()).add(bool(case.findings))
    assert set(seen) == set(BUILT_IN_POLICIES)
    assert len(LEVELS) == 7
    assert len(seen) - len(LEVELS) == 11
    assert {name for name, verdicts in seen.items() if len(verdicts) < 2} == {"NONE", "AllowAny"}
