"""Comparing a log of format 1 with the one that it was carried into, row by row: every row that is there now is told in the
words of format 1 again, and must be what stood there. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.core.answers import Config
from treaty.core.codec import encode
from treaty.core.commit import START
from treaty.core.law.settings import config_in_force, policy_of
from treaty.core.limits import COUNTER
from treaty.core.names import Subject
from treaty.core.requests import Scope as Asked
from treaty.core.rows import ROW_FORMAT, Encoded
from treaty.core.tables import DictTables
from treaty.log.upgrade.old import OldRow, canonical
from treaty.log.upgrade.policies import LEVELS, Members, Scope, Wish, in_force, level_of, old_policy
from treaty.log.upgrade.rows import ENDED, OF_SUBJECT, RENAMED, Key, Known, known_of, orphan, read_row

PLACED = frozenset({"log_origin", "snapshot"})
"""Tables of today that describe their own log."""
OTHER = (
    "normalize", "validate_fields", "validate_new_schemas", "validate_rules", "default_metadata", "override_metadata",
    "default_rules", "override_rules",
)  # fmt: skip
"""Members of a config that are no part of its policy."""
_NAMES = {new: old for old, new in RENAMED.items()}
RAISED = ("ids", "encodings")
"""Kinds of counters that a gap raises."""
_SPARED = canonical(["ids", "", "", ""])
"""The counter that a gap leaves where there was none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that is not what it was: its table and key in the words of format 1, and its members then and now (or "")."""

    table: str
    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.table} {self.key}: was {self.old or 'not there'}, is {self.new or 'not there'}"


def differences(old: Iterable[OldRow], new: tuple[Encoded, ...], gap: int) -> Iterator[Difference]:
    """Compare all rows, and the policy in force at every subject as the laws of then and now see it.

    Counters of ids and of encoding ids are higher by `gap`. Nothing means that all ids, guids, versions, numbers, configs, modes and all else
    are equal.
    """
    before = {(row.table, row.key): row for row in old}
    known = known_of(before.values())
    generations = {
        tuple(json.loads(row.key)): json.loads(row.value or "{}").get("generation")
        for row in new
        if row.table == "subject"
    }
    waiting = {place for place, row in before.items() if _stays(row, known)}
    for row in new:
        if row.table in PLACED or _is_moved_config(row, known):
            continue
        table, key, text = _back(row, generations)
        there = before.get((table, key))
        waiting.discard((table, key))
        was = "" if there is None else _as_was(there, gap)
        if was != text and not (gap and there is None and (table, key) == ("counter", _SPARED)):
            yield Difference(table, key, was, text)
    for table, key in sorted(waiting):
        yield Difference(table, key, _as_was(before[table, key], gap), "")
    yield from _policies(known, new)


def _stays(row: OldRow, known: Known) -> bool:
    """Whether a row of format 1 has a row of its own today."""
    key, members = read_row(row)
    if members is None:
        return True
    return not (row.table in ENDED or orphan(row.table, key, known) or _has_wish(row.table, key, known))


def _has_wish(table: str, key: Key, known: Known) -> bool:
    return table == "config" and key[0] == "subject" and (key[1], key[2]) in known.wishes


def _is_moved_config(row: Encoded, known: Known) -> bool:
    return row.table == "config" and _has_wish(row.table, tuple(json.loads(row.key)), known)


def _as_was(row: OldRow, gap: int) -> str:
    """The members of a row as they are compared: defaults that say nothing left out."""
    key, members = read_row(row)
    if members is None:
        return row.value or ""
    if row.table == "subject":
        members = {
            name: value for name, value in members.items() if name not in {"policy", "validators", "purged_parts"}
        }
    elif row.table == "version" and members.get("policy") is not None:
        members["policy"] = _plain(members["policy"])
    elif row.table == "config":
        outer = {name: value for name, value in members.items() if name != "config"}
        members = {**outer, **{name: value for name, value in members["config"].items() if value is not None}}
    elif row.table == "counter" and key[0] in RAISED:
        members["highest"] = min(members["highest"] + gap, COUNTER)
    return canonical(members)


def _plain(policy: Members) -> Members:
    """A policy of format 1 in the one way in which it can be said from its ranges."""
    rest = {
        name: value for name, value in policy.items() if name not in {"backward", "forward", "range", "till", "deny"}
    }
    return {**rest, **_in_old_words(level_of(policy))}


def _in_old_words(level: Members) -> Members:
    """A level of today in the words of format 1; ranges that differ can't be said, and stand as they are."""
    ranges = [level[name] for name in ("backward", "forward") if name in level]
    if any(one != ranges[0] for one in ranges):
        return {"level": level}
    told: Members = {name: True for name in ("backward", "forward", "deny") if level.get(name)}
    if ranges and ranges[0]["kind"] != "latest":
        told["range"] = ranges[0]["kind"]
    if ranges and ranges[0].get("ordinal"):
        told["till"] = ranges[0]["ordinal"]
    return told


def _back(row: Encoded, generations: Mapping[tuple[Any, ...], Any]) -> tuple[str, str, str]:
    """Table, key and compared members of a row of today, in the words of format 1."""
    table, text = _NAMES.get(row.table, row.table), row.value or ""
    try:
        key, members = json.loads(row.key), json.loads(text)
        if type(members) is not dict or members.pop("v", None) != ROW_FORMAT:
            return table, row.key, text
    except (ValueError, RecursionError):
        return table, row.key, text
    if table in {"version", "name"}:
        key, members = _without(key, 2, generations.get((key[0], key[1]), 0), members)
    elif table == "counter":
        own = generations.get((key[1], key[2]), 0) if key[0] in OF_SUBJECT else 0
        key, members = _without(key, 3, own, members)
    elif table == "encoding" and members.get("generation") == generations.get((key[0], key[1]), 0):
        members = {name: value for name, value in members.items() if name != "generation"}
    elif table == "schema":
        members["likeness"] = members.pop("lookup_digest", None)
    elif table == "aside":
        members["why"] = members.pop("reason", None)
    elif table == "config":
        members = _config(members)
    if table == "version" and members.get("policy") is not None:
        policy = members["policy"]
        rest = {name: value for name, value in policy.items() if name not in {"backward", "forward", "deny"}}
        members["policy"] = {
            **rest,
            **_in_old_words({name: policy[name] for name in ("backward", "forward", "deny") if name in policy}),
        }
    return table, canonical(key), canonical(members)


def _without(key: list[Any], place: int, generation: int, members: Members) -> tuple[list[Any], Members]:
    """A key without its generation, which shows as a difference where it is not the subject's."""
    if key[place] != generation:
        members = {**members, "generation": key[place]}
    return [*key[:place], *key[place + 1 :]], members


def _config(members: Members) -> Members:
    told = {}
    for name, value in members.items():
        if name == "level":
            words = [word for word, policy in LEVELS.items() if level_of(policy) == value]
            told["level"] = words[0] if words else value
        elif name == "partition":
            told["group"] = value.removeprefix("property:")
        else:
            told["policy" if name == "strictness" else name] = value
    return told


def _policies(known: Known, new: tuple[Encoded, ...]) -> Iterator[Difference]:
    """Compare the policy in force at every subject, by the law of format 1 then, and by today's law now; and all else of the config
    in force where a subject's own policy came into its config row.
    """
    tables = DictTables()
    tables.load((row for row in new if row.table == "config"), START)
    for subject in known.generations:
        scope: Scope = ("subject", *subject)
        wish = known.wishes.get(subject, Wish("", ()))
        config = config_in_force(tables, Asked(*Subject(*subject)))
        was, now = old_policy(known.configs, known.policies, scope, wish), _policy(config)
        if subject in known.wishes:
            was, now = {**was, **_other(in_force(known.configs, scope))}, {**now, **_other(encode(config))}
        if was != now:
            yield Difference("config in force", canonical([*subject]), canonical(was), canonical(now))


def _policy(config: Config) -> Members:
    """The policy that a config in force is, as `old_policy` says it."""
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


def _other(config: Members) -> Members:
    """What a config says beside its policy; False is as if unset."""
    return {name: config[name] for name in OTHER if config.get(name)}
