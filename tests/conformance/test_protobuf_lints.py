"""Advice about Protobuf schemas: recorded for hand-made schemas, and harmless for all others."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.oracle.protobuf_files import DIALECTS, made
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.format import RULES
from treaty.formats.protobuf.linker.diagnostics import EXPECTED
from treaty.formats.protobuf.lints import LINTS
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema

CASES = Path(__file__).parents[1] / "cases" / "protobuf" / "lint"
FOLDERS = sorted(path.parent for path in CASES.glob("*/faults.json"))


def model(text: str) -> ProtoSchema:
    return parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_schema_gets_its_recorded_advice(folder: Path) -> None:
    lint = LINTS[folder.name.partition("-")[0]]
    found = lint.find(model((folder / "schema.proto").read_text("utf-8")))

    assert [asdict(fault) for fault in found] == json.loads((folder / "faults.json").read_text("utf-8"))


def test_every_lint_says_what_it_is_for_and_has_an_id_of_its_own() -> None:
    for id_, lint in LINTS.items():
        assert lint.id == id_
        assert lint.purpose.endswith(".")
        assert id_ not in {*EXPECTED, *RULES}, "an id stands for one thing"


def test_every_lint_has_a_case_that_tells_it_and_a_near_miss() -> None:
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for folder in FOLDERS:
        told[bool(json.loads((folder / "faults.json").read_text("utf-8")))].add(folder.name.partition("-")[0])

    assert told[True] == told[False] == set(LINTS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_advice_about_any_schema_has_a_place(dialect: str) -> None:
    asked = 0
    for seed in range(60):
        try:
            schema = model(made(seed, dialect))
        except InvalidSchemaError:
            continue
        asked += 1
        for lint in LINTS.values():
            for fault in lint.find(schema):
                assert fault.rule == lint.id
                assert fault.message
                assert fault.expected
                assert bool(fault.line) == (lint.id not in {"PACKAGE_MISSING", "PACKAGE_STYLE", "SYNTAX_MISSING"})
    assert asked > 40


LIBRARY = """syntax = "proto2"; package lib; import "google/protobuf/descriptor.proto";
message Base { extensions 100 to 200; } enum Kind { NONE = 0; }
extend google.protobuf.FileOptions { optional string of_file = 50000; }
extend google.protobuf.MessageOptions { optional string of_message = 50000; }
extend google.protobuf.FieldOptions { optional string of_field = 50000; }
extend google.protobuf.OneofOptions { optional string of_oneof = 50000; }
extend google.protobuf.EnumOptions { optional string of_enum = 50000; }
extend google.protobuf.EnumValueOptions { optional string of_value = 50000; }
extend google.protobuf.ServiceOptions { optional string of_service = 50000; }
extend google.protobuf.MethodOptions { optional string of_method = 50000; }
extend google.protobuf.ExtensionRangeOptions { optional string of_range = 50000; }"""
USES = {
    "nothing": "",
    "a field": "message M { optional lib.Base a = 1; }",
    "a field of an enum": "message M { optional lib.Kind a = 1; }",
    "a choice": "message M { oneof o { lib.Base a = 1; } }",
    "values of a map": "message M { map<string, lib.Base> a = 1; }",
    "a group's field": "message M { optional group G = 1 { optional lib.Base a = 1; } }",
    "a nested message": "message M { message N { optional lib.Base a = 1; } }",
    "an extension": "extend lib.Base { optional int32 a = 100; }",
    "an extension in a message": "message M { extend lib.Base { optional int32 a = 100; } }",
    "what a method takes": "message M {} service S { rpc Do (lib.Base) returns (M); }",
    "what a method returns": "message M {} service S { rpc Do (M) returns (lib.Base); }",
    "an option of the file": 'option (lib.of_file) = "x";',
    "an option of a message": 'message M { option (lib.of_message) = "x"; }',
    "an option of a field": 'message M { optional int32 a = 1 [(lib.of_field) = "x"]; }',
    "an option of a choice": 'message M { oneof o { option (lib.of_oneof) = "x"; int32 a = 1; } }',
    "an option of an enum": 'enum E { option (lib.of_enum) = "x"; A = 0; }',
    "an option of a value": 'enum E { A = 0 [(lib.of_value) = "x"]; }',
    "an option of a service": 'service S { option (lib.of_service) = "x"; }',
    "an option of a method": 'message M {} service S { rpc Do (M) returns (M) { option (lib.of_method) = "x"; } }',
    "an option of a range": 'message M { extensions 5 to 9 [(lib.of_range) = "x"]; }',
}


@pytest.mark.parametrize("files", [1, 2, 3])
@pytest.mark.parametrize("use", USES)
def test_an_import_is_used_by_each_thing_that_has_a_name_of_it(use: str, files: int) -> None:
    """Also of a file that it imports publicly, or of one that this one does."""
    reference = ResolvedReference("lib1.proto", "lib1", 1, ResolvedSchema("PROTOBUF", LIBRARY))
    for at in range(1, files):
        text = f'syntax = "proto2"; import public "lib{at}.proto";'
        reference = ResolvedReference(
            f"lib{at + 1}.proto", f"lib{at + 1}", 1, ResolvedSchema("PROTOBUF", text, (reference,))
        )
    text = f'syntax = "proto2"; import "{reference.name}"; {USES[use]}'
    schema = parse_schema(ResolvedSchema("PROTOBUF", text, (reference,)), strict=True)
    told = [one.path for one in LINTS["IMPORT_UNUSED"].find(schema)]
    assert told == ([reference.name] if use == "nothing" else [])
