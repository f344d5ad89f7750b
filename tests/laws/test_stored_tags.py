"""Tags of requests, answers and errors: they are in logs, between nodes and in audit logs, so that none may ever change."""

import dataclasses
import json
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from treaty.core import operations, refusals
from treaty.core.operations import AREAS, HOMES, NAMED_OPERATIONS, OPERATIONS, OperationTable
from treaty.core.outcomes import answer_class
from treaty.core.refusals import ERROR_TAGS, RegistryError

RECORDED: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("data").joinpath("stored_tags.json").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("kind", "now"),
    [
        ("requests", [one.name for one in OPERATIONS.values()]),
        ("answers", list({**operations.STORED_ANSWERS, "version-found": None})),
        ("errors", list(ERROR_TAGS.values())),
    ],
    ids=["requests", "answers", "errors"],
)
def test_no_tag_changes(kind: str, now: list[str]) -> None:
    assert len(set(now)) == len(now)
    gone = [tag for tag in RECORDED[kind] if tag not in now]
    assert not gone, f"tags in logs that nobody can read any more: {gone}; a class may be renamed, its tag stays"
    assert sorted(now) == sorted(RECORDED[kind]), (
        "new tags belong into data/stored_tags.json: from then on they never change"
    )


def test_every_class_has_a_tag() -> None:
    assert len(NAMED_OPERATIONS) == len(OPERATIONS)
    assert all(answer_class(one.answer_name) is one.answer for one in OPERATIONS.values() if one.writes)
    assert not any(one.answer_name for one in OPERATIONS.values() if not one.writes)
    errors = {one for one in vars(refusals).values() if isinstance(one, type) and issubclass(one, RegistryError)}
    assert set(ERROR_TAGS) == errors - {RegistryError}


def test_an_operation_is_loaded_with_its_own_area() -> None:
    assert all(OperationTable()[request] is operation for request, operation in OPERATIONS.items())
    assert {area for areas in HOMES.values() for area in areas} == set(AREAS)
    with pytest.raises(KeyError):
        OperationTable()[RegistryError]


@pytest.mark.parametrize(
    "kind", [kind for kind, operation in OPERATIONS.items() if operation.writes], ids=lambda kind: OPERATIONS[kind].name
)
def test_a_member_of_a_command_has_one_class(kind: type) -> None:
    """Digests of requests name the class of the request alone: below it the member tells the class."""
    assert not list(_choices(kind, set()))


def _choices(hint: Any, seen: set[Any]) -> Any:
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        if hint not in seen:
            seen.add(hint)
            for name, inner in get_type_hints(hint).items():
                yield from ((hint, name, *found) for found in _choices(inner, seen))
        return
    inside = [one for one in get_args(hint) if one is not Ellipsis]
    if get_origin(hint) in {Union, UnionType} and sum(map(dataclasses.is_dataclass, inside)) > 1:
        yield (hint,)
    for one in inside:
        yield from _choices(one, seen)
