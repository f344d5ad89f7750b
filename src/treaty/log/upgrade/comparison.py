"""Compares a log of format 1 with the new log, row by row: every new row is converted back to format 1 and must equal
the old one. Digests by which look-ups find schemas are computed again, and are not compared. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.core.answers import Config
from treaty.core.handlers.settings import config_in_force, policy_of
from treaty.core.limits import COUNTER
from treaty.core.names import Subject
from treaty.core.requests import Scope as Asked
from treaty.core.state.codec import encode
from treaty.core.state.commit import START
from treaty.core.state.rows import ROW_FORMAT, EncodedRow
from treaty.core.state.tables import DictTables
from treaty.log.upgrade.conversion import (
    ENDED_TABLES,
    RENAMED_TABLES,
    SUBJECT_COUNTERS,
    ConversionContext,
    Key,
    is_orphan_counter,
    read_context,
    read_row,
)
from treaty.log.upgrade.old_format import OldRow, to_canonical_json
from treaty.log.upgrade.policies import (
    LEVELS,
    Members,
    OldSubjectPolicy,
    Scope,
    compute_config_in_force,
    compute_old_policy,
    convert_level,
)

LOG_LOCAL_TABLES = frozenset({"log_origin", "snapshot"})
"""Tables of today that describe their own log."""
OTHER_CONFIG_MEMBERS = (
    "normalize", "validate_fields", "validate_new_schemas", "validate_rules", "default_metadata", "override_metadata",
    "default_rules", "override_rules",
)  # fmt: skip
"""Members of a config that are no part of its policy."""
_DIGESTS = {"schema": "likeness", "version": "identity"}
"""By table of format 1, the member that is a digest by which a look-up finds the row."""
_NAMES = {new: old for old, new in RENAMED_TABLES.items()}
RAISED_COUNTERS = ("ids", "encodings")
"""Kinds of counters that a gap raises."""
_GAP_COUNTER_KEY = to_canonical_json(["ids", "", "", ""])
"""The counter that a gap leaves where there was none."""


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that is not what it was: its table and key in the words of format 1, and its members then and now (or "")."""

    table: str
    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.table} {self.key}: was {self.old or 'not there'}, is {self.new or 'not there'}"


def find_differences(old: Iterable[OldRow], new: tuple[EncodedRow, ...], gap: int) -> Iterator[RowDifference]:
    """Compare all rows, and the policy in force at every subject as the laws of then and now see it.

    Counters of ids and of encoding ids are higher by `gap`. Nothing means that all ids, guids, versions, numbers,
    configs, modes and all else are equal.
    """
    before = {(row.table, row.key): row for row in old}
    known = read_context(before.values())
    generations = {
        tuple(json.loads(row.key)): json.loads(row.value or "{}").get("generation")
        for row in new
        if row.table == "subject"
    }
    waiting = {place for place, row in before.items() if _has_own_row(row, known)}
    for row in new:
        if row.table in LOG_LOCAL_TABLES or _is_moved_config(row, known):
            continue
        table, key, text = _describe_new_row(row, generations)
        there = before.get((table, key))
        waiting.discard((table, key))
        was = "" if there is None else _describe_old_row(there, gap)
        if was != text and not (gap and there is None and (table, key) == ("counter", _GAP_COUNTER_KEY)):
            yield RowDifference(table, key, was, text)
    for table, key in sorted(waiting):
        yield RowDifference(table, key, _describe_old_row(before[table, key], gap), "")
    yield from _compare_policies(known, new)


def _has_own_row(row: OldRow, known: ConversionContext) -> bool:
    """Whether a row of format 1 has a row of its own today."""
    key, members = read_row(row)
    if members is None:
        return True
    return not (
        row.table in ENDED_TABLES or is_orphan_counter(row.table, key, known) or _has_own_policy(row.table, key, known)
    )


def _has_own_policy(table: str, key: Key, known: ConversionContext) -> bool:
    return table == "config" and key[0] == "subject" and (key[1], key[2]) in known.subject_policies


def _is_moved_config(row: EncodedRow, known: ConversionContext) -> bool:
    return row.table == "config" and _has_own_policy(row.table, tuple(json.loads(row.key)), known)


def _describe_old_row(row: OldRow, gap: int) -> str:
    """The members of a row as they are compared: defaults that say nothing left out."""
    key, members = read_row(row)
    if members is None:
        return row.value or ""
    members.pop(_DIGESTS.get(row.table, ""), None)
    if row.table == "subject":
        members = {
            name: value for name, value in members.items() if name not in {"policy", "validators", "purged_parts"}
        }
    elif row.table == "version" and members.get("policy") is not None:
        members["policy"] = _simplify_policy(members["policy"])
    elif row.table == "config":
        outer = {name: value for name, value in members.items() if name != "config"}
        members = {**outer, **{name: value for name, value in members["config"].items() if value is not None}}
    elif row.table == "counter" and key[0] in RAISED_COUNTERS:
        members["highest"] = min(members["highest"] + gap, COUNTER)
    return to_canonical_json(members)


def _simplify_policy(policy: Members) -> Members:
    """A policy of format 1 in the one way in which it can be said from its ranges."""
    rest = {
        name: value for name, value in policy.items() if name not in {"backward", "forward", "range", "till", "deny"}
    }
    return {**rest, **_write_old_level(convert_level(policy))}


def _write_old_level(level: Members) -> Members:
    """A level of today in the words of format 1; ranges that differ can't be said, and stand as they are."""
    ranges = [level[name] for name in ("backward", "forward") if name in level]
    if any(one != ranges[0] for one in ranges):
        return {"level": level}
    written: Members = {name: True for name in ("backward", "forward", "deny") if level.get(name)}
    if ranges and ranges[0]["kind"] != "latest":
        written["range"] = ranges[0]["kind"]
    if ranges and ranges[0].get("ordinal"):
        written["till"] = ranges[0]["ordinal"]
    return written


def _describe_new_row(row: EncodedRow, generations: Mapping[tuple[Any, ...], Any]) -> tuple[str, str, str]:
    """Table, key and compared members of a row of today, in the words of format 1."""
    table, text = _NAMES.get(row.table, row.table), row.value or ""
    try:
        key, members = json.loads(row.key), json.loads(text)
        if type(members) is not dict or members.pop("v", None) != ROW_FORMAT:
            return table, row.key, text
    except (ValueError, RecursionError):
        return table, row.key, text
    members.pop("lookup_digest" if table == "schema" else _DIGESTS.get(table, ""), None)
    if table in {"version", "name"}:
        key, members = _drop_generation(key, 2, generations.get((key[0], key[1]), 0), members)
    elif table == "counter":
        own = generations.get((key[1], key[2]), 0) if key[0] in SUBJECT_COUNTERS else 0
        key, members = _drop_generation(key, 3, own, members)
    elif table == "encoding" and members.get("generation") == generations.get((key[0], key[1]), 0):
        members = {name: value for name, value in members.items() if name != "generation"}
    elif table == "aside":
        members["why"] = members.pop("reason", None)
    elif table == "config":
        members = _write_old_config(members)
    if table == "version" and members.get("policy") is not None:
        policy = members["policy"]
        rest = {name: value for name, value in policy.items() if name not in {"backward", "forward", "deny"}}
        members["policy"] = {
            **rest,
            **_write_old_level({name: policy[name] for name in ("backward", "forward", "deny") if name in policy}),
        }
    return table, to_canonical_json(key), to_canonical_json(members)


def _drop_generation(key: list[Any], place: int, generation: int, members: Members) -> tuple[list[Any], Members]:
    """A key without its generation, which shows as a difference where it is not the subject's."""
    if key[place] != generation:
        members = {**members, "generation": key[place]}
    return [*key[:place], *key[place + 1 :]], members


def _write_old_config(members: Members) -> Members:
    written = {}
    for name, value in members.items():
        if name == "level":
            words = [word for word, policy in LEVELS.items() if convert_level(policy) == value]
            written["level"] = words[0] if words else value
        elif name == "partition":
            written["group"] = value.removeprefix("property:")
        else:
            written["policy" if name == "strictness" else name] = value
    return written


def _compare_policies(known: ConversionContext, new: tuple[EncodedRow, ...]) -> Iterator[RowDifference]:
    """Compare the policy in force at every subject, by the rules of format 1 and by the current ones; and all else
    of the config in force where a subject's own policy came into its config row.
    """
    tables = DictTables()
    tables.load((row for row in new if row.table == "config"), START)
    for subject in known.generations:
        scope: Scope = ("subject", *subject)
        own_policy = known.subject_policies.get(subject, OldSubjectPolicy("", ()))
        config = config_in_force(tables, Asked(*Subject(*subject)))
        was, now = compute_old_policy(known.configs, known.policies, scope, own_policy), _describe_policy(config)
        if subject in known.subject_policies:
            was, now = (
                {**was, **_select_other_members(compute_config_in_force(known.configs, scope))},
                {**now, **_select_other_members(encode(config))},
            )
        if was != now:
            yield RowDifference(
                "config in force", to_canonical_json([*subject]), to_canonical_json(was), to_canonical_json(now)
            )


def _describe_policy(config: Config) -> Members:
    """The policy that a config in force is, as `compute_old_policy` says it."""
    policy = policy_of(config)
    level: Members = {
        name: {"kind": reach.kind, **({"ordinal": reach.ordinal} if reach.ordinal else {})}
        for name, reach in (("backward", policy.backward), ("forward", policy.forward))
        if reach.kind != "none"
    }
    return {
        "level": {**level, "deny": True} if policy.deny else level,
        "partition": policy.partition,
        "strictness": policy.strictness or "STRICT",
        "validators": [*policy.validators],
    }


def _select_other_members(config: Members) -> Members:
    """What a config says beside its policy; False is as if unset."""
    return {name: config[name] for name in OTHER_CONFIG_MEMBERS if config.get(name)}
