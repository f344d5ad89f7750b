"""Every rule of every format has a case in which it is told, and a near miss in which it is not.

Read from the folders of cases alone, whose truth the tests of each format check:

- `<RULE>[-<words>]/verdict.json`: findings of two schemas, in lists by direction (``backward``, ``forward``; also
  ``differences`` where a format tells harmless ones). A near miss is a folder of the rule's name in which no list has it.
- `lint/<LINT>[-<words>]/faults.json` and `validity/<RULE>[-<words>]/faults.json`: a list of faults of one schema, each
  with its ``rule``. A near miss is a folder of the rule's name without it in the list.
- `validity/*.json`: a list of schemas by theme, the invalid ones with their ``rule`` (or a list ``rules``), the valid
  ones with ``near_miss`` where they nearly break a rule.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from treaty.formats.registry import find_formats

CASES = Path(__file__).parents[1] / "cases"

LIMITS: dict[str, dict[str, str]] = {
    "AVRO": {
        "COMPARISON_TOO_LARGE": "test_avro_limits.py",
        "TOO_MANY": "test_avro_limits.py",
        "SCHEMA_TOO_DEEP": "test_avro_limits.py",
    },
    "JSON": {"COMPARISON_TOO_LARGE": "test_jsonschema_compat_limits.py", "TOO_MANY": "test_jsonschema_limits.py"},
    "PROTOBUF": {
        "COMPARISON_TOO_LARGE": "test_protobuf_compat.py",
        **dict.fromkeys(("REFERENCES_TOO_DEEP", "SCHEMA_TOO_LARGE", "TOO_MANY"), "test_protobuf_limits.py"),
        "TOO_MANY_REFERENCES": "test_protobuf_limits.py",
    },
}
"""By format, the rules that only a large schema breaks, and the tests here that make such schemas: no files hold them."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What the folders of one format show: rules that were told, and rules that were nearly told."""

    told: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)

    def add(self, name: str, rules: set[str]) -> None:
        """Take in one folder: what it tells, and that its own rule is not among them."""
        self.told.update(rules)
        rule = name.partition("-")[0]
        if rule not in rules:
            self.missed.add(rule)


def _verdict(recorded: dict[str, Any]) -> set[str]:
    lists = (recorded.get(name, ()) for name in ("backward", "forward", "differences"))
    return {found["rule"] for findings in lists for found in findings}


def _faults(recorded: list[dict[str, Any]]) -> set[str]:
    return {fault["rule"] for fault in recorded}


def _folders(paths: Iterable[Path], rules: Callable[[Any], set[str]]) -> Covered:
    covered = Covered()
    for path in paths:
        covered.add(path.parent.name, rules(json.loads(path.read_text("utf-8"))))
    return covered


def differences(cases: Path) -> Covered:
    """What the pairs of schemas in a folder of cases show."""
    return _folders(sorted(cases.glob("*/verdict.json")), _verdict)


def lints(cases: Path) -> Covered:
    """What the schemas for lints show."""
    return _folders(sorted(cases.glob("lint/*/faults.json")), _faults)


def validity(cases: Path) -> Covered:
    """What the invalid and the nearly invalid schemas show."""
    covered = _folders(sorted(cases.glob("validity/*/faults.json")), _faults)
    for file in sorted(cases.glob("validity/*.json")):
        for row in json.loads(file.read_text("utf-8")):
            covered.told.update(row.get("rules", ()))
            covered.told.update({row["rule"]} if "rule" in row else ())
            covered.missed.update({row["near_miss"]} if "near_miss" in row and "rule" not in row else ())
    return covered


LOOKS: dict[str, Callable[[Path], Covered]] = {"rules": differences, "faults": validity, "lints": lints}
"""By the member of `Format` that holds the rows, where its cases lie."""

FORMATS = ("AVRO", "JSON", "PROTOBUF")
"""Formats that have cases."""

COVERED = tuple((name, member) for name in FORMATS for member in LOOKS)
"""Formats and members whose rows are all covered."""


def cases_of(name: str) -> Path:
    """Where the cases of a format lie."""
    return CASES / {"JSON": "jsonschema"}.get(name, name.lower())


def lacking(format_: str, member: str, cases: Path) -> Iterator[str]:
    """Rules of a format that lack a case: those of `Format.rules`, `Format.faults` or `Format.lints`."""
    form = find_formats().find(format_)
    assert form is not None, format_
    covered = LOOKS[member](cases)
    for rule in getattr(form, member):
        if rule not in LIMITS[format_]:
            if rule not in covered.told:
                yield f"{rule}: no case tells it"
            if rule not in covered.missed:
                yield f"{rule}: no near miss"


@pytest.mark.parametrize(("name", "member"), COVERED)
def test_every_rule_is_told_in_a_case_and_nearly_told_in_another(name: str, member: str) -> None:
    assert not list(lacking(name, member, cases_of(name)))


@pytest.mark.parametrize("name", FORMATS)
def test_rules_without_files_are_told_by_the_tests_of_limits(name: str) -> None:
    form = find_formats().find(name)
    assert form is not None
    known = {*form.rules, *form.faults, *form.lints}
    text = {file: (Path(__file__).parent / file).read_text("utf-8") for file in LIMITS[name].values()}

    assert not set(LIMITS[name]) - known
    assert not [rule for rule, file in LIMITS[name].items() if f'"{rule}"' not in text[file]]


HARM_SHOWN = ("AVRO",)
"""Formats whose cases show the harm of every rule too."""


@pytest.mark.parametrize("name", HARM_SHOWN)
def test_a_rule_is_told_in_as_many_directions_as_it_does_harm(name: str) -> None:
    form = find_formats().find(name)
    assert form is not None
    shown: set[tuple[str, str]] = set()
    for path in cases_of(name).glob("*/verdict.json"):
        recorded = json.loads(path.read_text("utf-8"))
        ways = [{found["rule"] for found in recorded[way]} for way in ("backward", "forward")]
        shown.update((rule, "both") for rule in ways[0] & ways[1])
        shown.update((rule, "backward") for rule in ways[0] ^ ways[1])

    assert not [
        rule.id for rule in form.rules.values() if rule.id not in LIMITS[name] and (rule.id, rule.harm) not in shown
    ]


@pytest.mark.parametrize("member", LOOKS)
def test_a_folder_without_cases_covers_nothing(member: str, tmp_path: Path) -> None:
    form = find_formats().find("AVRO")
    assert form is not None
    rows = set(getattr(form, member)) - set(LIMITS["AVRO"])

    assert len(list(lacking("AVRO", member, tmp_path))) == 2 * len(rows)


@pytest.mark.parametrize("name", FORMATS)
def test_no_folder_is_named_after_a_rule_that_does_not_exist(name: str) -> None:
    form = find_formats().find(name)
    assert form is not None
    cases = cases_of(name)
    known = {*form.rules, *form.faults, *form.lints}
    named = [path.parent.name.partition("-")[0] for path in cases.rglob("*/faults.json")]
    named += [path.parent.name.partition("-")[0] for path in cases.glob("*/verdict.json")]

    assert not {word for word in named if word.isupper()} - known
