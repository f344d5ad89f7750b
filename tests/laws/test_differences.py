"""Differences of two schemas: complete, with places that are where they say, and harmless ones told as such."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from treaty.core.finding import ExplainedDifference, TextPlace
from treaty.core.schema_engine import (
    CompareSchemas,
    ComparisonResult,
    DescribeDifferences,
    DifferencesDescribed,
    ResolvedSchema,
)
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.formats.rule import POLICIES
from treaty.formats.text_layout import lay_out

ENGINE = FormatEngine(find_formats())
CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(
    one.parent
    for kind in ("avro", "protobuf")
    for one in (CASES / kind).glob("*/verdict.json")
    if len(list(one.parent.iterdir())) == 3
)
AVRO_OLD = {
    "type": "record", "name": "Order", "namespace": "a", "doc": "x",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "carrier", "type": ["null", "string"], "default": None},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "gone", "type": "int", "default": 0},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [{"name": "n", "type": "int"}]}}},
    ],
}  # fmt: skip


def schema(value: object, format_: str = "AVRO") -> ResolvedSchema:
    return ResolvedSchema(format_, value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))


def described(old: ResolvedSchema, new: ResolvedSchema, sent: str = "") -> DifferencesDescribed:
    told = ENGINE.answer(DescribeDifferences(old, new, sent))
    assert isinstance(told, DifferencesDescribed)
    return told


def is_there(place: TextPlace, text: str) -> bool:
    """Whether line, column and offset say the same, and something stands there."""
    before = text[: place.offset]
    return (place.line, place.column) == (before.count("\n") + 1, place.offset - before.rfind("\n")) and not text[
        place.offset
    ].isspace()


def test_every_finding_of_every_case_is_listed_once_with_places() -> None:
    assert len(FOLDERS) > 60
    for folder in FOLDERS:
        (old_file,), (new_file,) = folder.glob("old.*"), folder.glob("new.*")
        format_ = "PROTOBUF" if old_file.suffix == ".proto" else "AVRO"
        old, new = (schema(one.read_text("utf-8"), format_) for one in (old_file, new_file))
        told = described(old, new, new.text)
        for policy in POLICIES:
            listed = [one for one in told.differences if one.harm != "none" and one.policy in {"", policy}]
            for reader, writer in ((old, new), (new, old)):
                answer = ENGINE.answer(CompareSchemas(reader, writer, policy))
                assert isinstance(answer, ComparisonResult)
                missing = [
                    one.path for one in answer.findings if (one.path or "/") not in {each.path for each in listed}
                ]
                assert policy != POLICIES[0] or not missing, (folder.name, missing)
        for one in told.differences:
            for place, text in (
                (one.old_place, told.old_text),
                (one.new_place, told.new_text),
                (one.sent_place, new.text),
            ):
                assert place is None or is_there(place, text), (folder.name, one)


def test_a_schema_does_not_differ_from_itself() -> None:
    for folder in FOLDERS[::7]:
        (file,) = folder.glob("new.*")
        one = schema(file.read_text("utf-8"), "PROTOBUF" if file.suffix == ".proto" else "AVRO")
        told = described(one, one)
        assert not [each for each in told.differences if each.harm == "none"], folder.name


def changed(edit: object) -> list[ExplainedDifference]:
    value = json.loads(json.dumps(AVRO_OLD))
    edit(value)  # type: ignore[operator]
    told = described(schema(AVRO_OLD), schema(value), json.dumps(value, indent=1))
    assert [one.harm == "none" for one in told.differences] == sorted(one.harm == "none" for one in told.differences)
    return list(told.differences)


FIELDS = "fields"
HARMLESS = {
    "FIELD_ADDED": lambda it: it[FIELDS].insert(1, {"name": "more", "type": "int", "default": 1}),
    "FIELD_REMOVED": lambda it: it[FIELDS].pop(3),
    "FIELD_MOVED": lambda it: it[FIELDS].append(it[FIELDS].pop(0)),
    "FIELD_RENAMED": lambda it: it[FIELDS][3].update(name="went", aliases=["gone"]),
    "DOC_CHANGED": lambda it: it.update(doc="y"),
    "DEFAULT_CHANGED": lambda it: it[FIELDS][3].update(default=7),
    "ALIASES_CHANGED": lambda it: it.update(aliases=["Former"]),
    "ORDER_CHANGED": lambda it: it[FIELDS][0].update(order="descending"),
    "PROPERTY_CHANGED": lambda it: it[FIELDS][0].update({"confluent:tags": ["PII"]}),
    "NAMESPACE_CHANGED": lambda it: it.update(namespace="b"),
}


@pytest.mark.parametrize("rule", HARMLESS)
def test_a_harmless_change_is_told_as_such(rule: str) -> None:
    found = changed(HARMLESS[rule])
    assert rule in {one.rule for one in found if one.harm == "none"}


def test_a_change_that_a_finding_is_about_is_told_once() -> None:
    def break_it(it: dict) -> None:  # type: ignore[type-arg]
        it[FIELDS][0]["type"] = "int"
        it[FIELDS][2]["type"]["symbols"] = ["A"]
        it[FIELDS].append({"name": "must", "type": "int"})
        it[FIELDS][4]["type"]["items"]["fields"][0]["type"] = "string"

    found = changed(break_it)
    assert all(one.harm != "none" for one in found), [one for one in found if one.harm == "none"]
    places = {one.rule: one.new_place for one in found if one.reader == "new"}
    assert all(place is not None and place.exact for place in places.values())
    deep = next(one for one in found if one.path.startswith("/fields/4"))
    assert (deep.old_place and deep.old_place.line, deep.new_place and deep.new_place.line) == (45, 44)


def test_a_removed_part_is_where_it_was_and_what_would_hold_it_is_said() -> None:
    (found,) = [one for one in changed(lambda it: it[FIELDS].pop(3)) if one.rule == "FIELD_REMOVED"]
    assert found.reader == "old"
    assert found.old_place is not None
    assert found.old_place.exact
    assert found.new_place is not None
    assert not found.new_place.exact


def test_lines_of_a_text_are_in_order_and_long_ones_stay_as_they_are() -> None:
    text = json.dumps(AVRO_OLD)
    assert json.loads(lay_out(text)) == AVRO_OLD
    assert lay_out(text).count("\n") > 20
    deep = "[" * 2_000 + ",".join(["1"] * 2_000) + "]" * 2_000
    assert lay_out(deep) == deep


def test_places_of_one_text_ascend_with_their_paths() -> None:
    value = {"type": "record", "name": "R", "fields": [{"name": f"f{at}", "type": "int"} for at in range(50)]}
    other = json.loads(json.dumps(value))
    for each in other["fields"]:
        each["type"] = "string"
    told = described(schema(value), schema(other))
    backward = [one for one in told.differences if one.reader == "new"]
    assert len(backward) == 50
    lines = [one.new_place.line for one in backward if one.new_place is not None]
    assert all(one < another for one, another in pairwise(lines))
