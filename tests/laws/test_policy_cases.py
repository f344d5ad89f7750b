"""Every built-in policy with every format: which change it admits, which it refuses, and what it finds; as data.

The same holds in a subject whose versions have other ordinals and numbers than the first ones: ranges are held against
ordinals, and numbers go down when the newest version is purged.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.laws.toy import Bench, S
from tests.worlds.drafts import records
from tests.worlds.histories import purge
from tests.worlds.world import World
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.policy import BUILT_IN_POLICIES, LEVELS, Level, built_in_level, parse_validator
from treaty.core.refusals import Incompatible
from treaty.core.schema import Draft
from treaty.core.schema_engine import Answer, Question
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
    hold_case(case, World(neighbours=()), gaps=False)


@pytest.mark.parametrize(("former", "gaps"), [("purged", False), ("imported", True)])
@pytest.mark.parametrize("folder", FORMATS)
def test_ranges_are_held_against_ordinals(
    folder: str,
    former: str,
    gaps: bool,  # noqa: FBT001 - a parameter of the run
) -> None:
    """All cases of policies with a range that begins at a version, and the others with three versions."""
    cases = [one for one in read_cases() if one.folder == folder and ("Till" in one.policy or len(one.versions) > 2)]
    assert len(cases) > 10
    for case in cases:
        hold_case(case, World(neighbours=(), former=former), gaps=gaps)


def hold_case(case: Case, world: World, *, gaps: bool) -> None:
    """Hold a case in a subject with a history; with `gaps` a version is purged before each one of the case."""
    bench = Bench()
    bench.engine = ENGINE
    world.begin(bench.do, S, records)
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    ordinals: list[int] = []
    for at, version in enumerate(case.versions):
        if gaps:
            gone = bench.do(Register(S, records("gone", *(f"g{number}?" for number in range(at))))).version
            for request in purge(S, gone.number) if at or world.former != "nothing" else ():
                bench.do(request)
        ordinals.append(bench.do(Register(S, case.draft(version))).version.ordinal)
    call = parse_validator(case.policy)
    level = built_in_level(call.name, call.parameters)
    assert level is not None
    bench.do(SetConfig(Scope(*S), Config(exact_level=placed(level, ordinals))))
    told = bench.do(Check(S, case.draft(case.new)))
    assert [[one.rule, one.path] for one in told.findings] == case.findings
    assert told.compatible is not bool(case.findings)
    if told.compatible:
        assert bench.do(Register(S, case.draft(case.new))).created
    else:
        with pytest.raises(Incompatible) as caught:
            bench.do(Register(S, case.draft(case.new)))
        assert caught.value.findings == told.findings


def placed(level: Level, ordinals: list[int]) -> Level:
    """A level whose ranges begin at the versions that have these ordinals."""
    backward, forward = (
        replace(one, ordinal=ordinals[one.ordinal]) if one.kind == "till" else one
        for one in (level.backward, level.forward)
    )
    return replace(level, backward=backward, forward=forward)


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
