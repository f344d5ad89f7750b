"""Laws of an upgrade from format 1: whatever stood in configs and policies, what is in force stays the same."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from treaty.log.upgrade.comparison import find_differences
from treaty.log.upgrade.conversion import convert_rows
from treaty.log.upgrade.old_format import OldRow, to_canonical_json
from treaty.log.upgrade.policies import LEVELS

SUBJECTS = ((".", "s"), (".", "t"), (".x", "s"), (".y", "s"))
SCOPES = (
    ("everywhere", "*", ""),
    ("context", ".", ""),
    ("context", ".x", ""),
    *(("subject", *one) for one in SUBJECTS),
)
NAMES = ("NAME_CASE", "FIELD_DOC_MISSING", "X")

texts = some.sampled_from(["", "a", "b"])
validators = some.lists(some.sampled_from(NAMES), max_size=2, unique=True)
policies = some.fixed_dictionaries(
    {},
    optional={
        "backward": some.booleans(),
        "forward": some.booleans(),
        "range": some.sampled_from(["latest", "all", "till"]),
        "till": some.integers(0, 3),
        "deny": some.booleans(),
        "partition": some.sampled_from(["", "type", "property:p", "model"]),
        "strictness": some.sampled_from(["", "STRICT", "LENIENT", "LOGICAL"]),
        "validators": validators,
    },
)
metadata = some.fixed_dictionaries({"properties": some.fixed_dictionaries({"p": texts})})
configs = some.fixed_dictionaries(
    {},
    optional={
        "level": some.sampled_from([*LEVELS]),
        "policy": some.sampled_from(["STRICT", "LENIENT", "LOGICAL"]),
        "group": texts,
        "validators": validators,
        "normalize": some.booleans(),
        "validate_rules": some.booleans(),
        "alias": texts,
        "default_metadata": metadata,
        "later": some.integers(),
    },
)
chosen = some.sampled_from(["", *LEVELS, "named", "other", "not there"])


def row(table: str, key: list[Any], members: dict[str, Any]) -> OldRow:
    return OldRow(table, to_canonical_json(key), to_canonical_json({**members, "v": 1}))


@given(
    some.lists(configs | some.none(), min_size=len(SCOPES), max_size=len(SCOPES)),
    some.lists(some.tuples(chosen, validators), min_size=len(SUBJECTS), max_size=len(SUBJECTS)),
    policies,
    policies,
)
def test_what_is_in_force_stays_the_same(
    set_: list[dict[str, Any] | None], wishes: list[tuple[str, list[str]]], named: dict[str, Any], other: dict[str, Any]
) -> None:
    rows = [row("policy", ["named"], named), row("policy", ["other"], other)]
    for number, (subject, (policy, own)) in enumerate(zip(SUBJECTS, wishes, strict=True), 1):
        rows.append(row("subject", [*subject], {"generation": number, "policy": policy, "validators": own}))
        rows.append(row("version", [*subject, 0], {"number": 1, "schema_id": 1, "format": "AVRO", "policy": named}))
    for scope, config in zip(SCOPES, set_, strict=True):
        if config is not None:
            rows.append(row("config", [*scope], {"config": config}))

    found = convert_rows(rows)

    assert [*map(str, find_differences(rows, found.rows, 0))] == []
    assert found.ended == {"policy": 2}
    aliases = {one.key for one in found.rows if one.table == "config" and '"alias":' in (one.value or "")}
    wanted = {
        to_canonical_json([*scope]) for scope, config in zip(SCOPES, set_, strict=True) if config and "alias" in config
    }
    assert aliases == wanted, "no subject gets the alias of another scope"
