"""The table: every row of format 1, and what it is in today's format. Pure.

| table of format 1 | today |
|---|---|
| `fold`, `lineage` | gone: they describe their own log; `log_origin` says where the new one comes from |
| outcome | gone: a command that is sent again is a new one |
| policy | gone: a subject's own policy is in its config row |
| aside | quarantine; its member `why` is `reason` |
| sealing | encryption_key |
| schema | its member `likeness` is `lookup_digest`, which has another recipe (`lookup_digests.py`) |
| subject | without `policy`, `validators` and `purged_parts` |
| version, name | the generation of their subject is in their keys; a version's `policy` has a range for each direction |
| counter | a generation is in the key: that of the subject for ordinals and types, 0 for all others |
| encoding | its member `generation` says whose `ordinal` it is |
| config | its members are in the row itself; the level is one member |
| content, codec, mode, association, context, source, type, runner, topic | as they are |

Unknown members are kept. A row that format 1 could not read stays as it is, under its table's new name.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.state.rows import ROW_FORMAT, EncodedRow
from treaty.log.upgrade.old_format import FORMAT, OldRow, to_canonical_json
from treaty.log.upgrade.policies import Members, OldSubjectPolicy, Scope, convert_config, convert_policy, merge_policy

Key = tuple[Any, ...]

RENAMED_TABLES: Mapping[str, str] = {
    "aside": "quarantine",
    "sealing": "encryption_key",
    "fold": "snapshot",
    "lineage": "log_origin",
}
"""Tables that have another name today."""
ENDED_TABLES = frozenset({"fold", "lineage", "outcome", "policy"})
"""Tables of format 1 whose rows are not carried over."""
KEY_LENGTHS: Mapping[str, int] = {
    "content": 1, "schema": 2, "subject": 2, "version": 3, "name": 4, "encoding": 3, "codec": 3, "counter": 4, "policy": 1,
    "config": 3, "mode": 3, "association": 3, "context": 1, "source": 1, "type": 1, "outcome": 1, "runner": 1, "topic": 1,
    "sealing": 1, "lineage": 1, "fold": 1, "aside": 2,
}  # fmt: skip
"""Every table of format 1, and how many parts its keys had."""
SUBJECT_COUNTERS = ("ordinals", "types")
"""Kinds of counters that belong to one generation of a subject."""


@dataclass(slots=True)
class ConversionContext:
    """What must be known of all rows before one of them can be changed."""

    generations: dict[tuple[str, str], int] = field(default_factory=dict)
    subject_policies: dict[tuple[str, str], OldSubjectPolicy] = field(default_factory=dict)
    configs: dict[Scope, Members] = field(default_factory=dict)
    policies: dict[str, Members] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConvertedRows:
    """The rows of the new log, what was left out by table, and unreadable rows, which do not change."""

    rows: tuple[EncodedRow, ...]
    ended: Mapping[str, int]
    unreadable: tuple[OldRow, ...]


def convert_rows(rows: Iterable[OldRow]) -> ConvertedRows:
    """Return today's rows for all live rows of a log of format 1."""
    read = [(row, *read_row(row)) for row in rows]
    known = _collect_context((row.table, key, members) for row, key, members in read if members is not None)
    new: list[EncodedRow] = []
    ended: Counter[str] = Counter()
    unreadable = []
    for row, key, members in read:
        if members is None:
            unreadable.append(row)
            new.append(EncodedRow(RENAMED_TABLES.get(row.table, row.table), row.key, row.value))
        elif row.table in ENDED_TABLES or is_orphan_counter(row.table, key, known):
            ended[row.table] += 1
        else:
            new.append(_convert_row(row.table, key, members, known))
    new += _make_new_configs(known)
    return ConvertedRows(tuple(new), dict(ended), tuple(unreadable))


def read_row(row: OldRow) -> tuple[Key, Members | None]:
    """Return the key and the members of a row, without its format; None where format 1 could not read it."""
    try:
        key, members = _parse_json(row.key), _parse_json(row.value or "")
    except (ValueError, RecursionError):
        return (), None
    if type(key) is not list or len(key) != KEY_LENGTHS.get(row.table) or to_canonical_json(key) != row.key:
        return (), None
    if type(members) is not dict or members.pop("v", FORMAT) != FORMAT:
        return (), None
    return tuple(key), members


def _parse_json(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> None:
    raise ValueError(word)  # NaN and its like can't be written again


def read_context(rows: Iterable[OldRow]) -> ConversionContext:
    """Return what must be known of all rows, from the rows."""
    read = ((row.table, *read_row(row)) for row in rows)
    return _collect_context((table, key, members) for table, key, members in read if members is not None)


def _collect_context(read: Iterable[tuple[str, Key, Members]]) -> ConversionContext:
    known = ConversionContext()
    for table, key, members in read:
        if table == "subject":
            known.generations[key[0], key[1]] = members.get("generation", 0)
            own_policy = OldSubjectPolicy(members.get("policy", ""), tuple(members.get("validators", ())))
            if own_policy.policy or own_policy.validators:
                known.subject_policies[key[0], key[1]] = own_policy
        elif table == "config":
            known.configs[key[0], key[1], key[2]] = convert_config(members)
        elif table == "policy":
            known.policies[key[0]] = members
    return known


def is_orphan_counter(table: str, key: Key, known: ConversionContext) -> bool:
    """Return whether a row is a counter of a subject that is gone: today it goes with it."""
    return table == "counter" and key[0] in SUBJECT_COUNTERS and (key[1], key[2]) not in known.generations


def _convert_row(table: str, key: Key, members: Members, known: ConversionContext) -> EncodedRow:
    change = _CONVERTERS.get(table)
    new_key, new = change(key, members, known) if change else (key, members)
    return _encode_row(RENAMED_TABLES.get(table, table), new_key, new)


def _encode_row(table: str, key: Key, members: Members) -> EncodedRow:
    return EncodedRow(table, to_canonical_json([*key]), to_canonical_json({**members, "v": ROW_FORMAT}))


def _make_new_configs(known: ConversionContext) -> Iterator[EncodedRow]:
    """Config rows of subjects that had none, and had a policy of their own."""
    for subject, own_policy in known.subject_policies.items():
        scope: Scope = ("subject", *subject)
        if scope not in known.configs:
            yield _encode_row("config", scope, merge_policy(known.configs, known.policies, scope, own_policy))


# ------------------------------------------------------------------------------------- what becomes of single tables


def _convert_schema(key: Key, members: Members, _: ConversionContext) -> tuple[Key, Members]:
    return key, _rename_members(members, likeness="lookup_digest")


def _convert_quarantine(key: Key, members: Members, _: ConversionContext) -> tuple[Key, Members]:
    return key, _rename_members(members, why="reason")


def _convert_subject(key: Key, members: Members, _: ConversionContext) -> tuple[Key, Members]:
    gone = ("policy", "validators", "purged_parts")
    return key, {name: value for name, value in members.items() if name not in gone}


def _convert_version(key: Key, members: Members, known: ConversionContext) -> tuple[Key, Members]:
    context, subject, ordinal = key
    policy = members.get("policy")
    new = members if policy is None else {**members, "policy": convert_policy(policy)}
    return (context, subject, known.generations.get((context, subject), 0), ordinal), new


def _convert_name(key: Key, members: Members, known: ConversionContext) -> tuple[Key, Members]:
    context, subject, scheme, name = key
    return (context, subject, known.generations.get((context, subject), 0), scheme, name), members


def _convert_counter(key: Key, members: Members, known: ConversionContext) -> tuple[Key, Members]:
    kind, context, subject, part = key
    generation = known.generations.get((context, subject), 0) if kind in SUBJECT_COUNTERS else 0
    return (kind, context, subject, generation, part), members


def _convert_encoding(key: Key, members: Members, known: ConversionContext) -> tuple[Key, Members]:
    return key, {**members, "generation": known.generations.get((key[0], key[1]), 0)}


def _convert_config(key: Key, _: Members, known: ConversionContext) -> tuple[Key, Members]:
    scope: Scope = (key[0], key[1], key[2])
    own_policy = known.subject_policies.get((key[1], key[2])) if key[0] == "subject" else None
    members = known.configs[scope]
    return key, members if own_policy is None else merge_policy(known.configs, known.policies, scope, own_policy)


def _rename_members(members: Members, **names: str) -> Members:
    return {names.get(name, name): value for name, value in members.items()}


_CONVERTERS: Mapping[str, Callable[[Key, Members, ConversionContext], tuple[Key, Members]]] = {
    "schema": _convert_schema,
    "subject": _convert_subject,
    "version": _convert_version,
    "name": _convert_name,
    "counter": _convert_counter,
    "encoding": _convert_encoding,
    "config": _convert_config,
    "aside": _convert_quarantine,
}
"""Tables whose rows look different today."""
