"""The table: every row of format 1, and what it is in today's format. Pure.

| table of format 1 | today |
|---|---|
| fold, lineage | gone: they describe their own log; `log_origin` says where the new one comes from |
| outcome | gone: a command that is sent again is a new one |
| policy | gone: a subject's own policy stands in its config row |
| aside | quarantine; its member `why` is `reason` |
| sealing | encryption_key |
| schema | its member `likeness` is `lookup_digest` |
| subject | without `policy`, `validators` and `purged_parts` |
| version, name | the generation of their subject stands in their keys; a version's `policy` has a range for each direction |
| counter | a generation stands in the key: that of the subject for ordinals and types, 0 for all others |
| encoding | its member `generation` says whose `ordinal` it is |
| config | its members stand in the row itself; the level is one member |
| content, codec, mode, association, context, source, type, runner, topic | as they are |

Members that nobody knows stay. A row that format 1 could not read stays as it is, under its table's new name.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.rows import ROW_FORMAT, Encoded
from treaty.log.upgrade.old import FORMAT, OldRow, canonical
from treaty.log.upgrade.policies import Members, Scope, Wish, config_of, policy_of, with_policy

Key = tuple[Any, ...]

RENAMED: Mapping[str, str] = {
    "aside": "quarantine",
    "sealing": "encryption_key",
    "fold": "snapshot",
    "lineage": "log_origin",
}
"""Tables that have another name today."""
ENDED = frozenset({"fold", "lineage", "outcome", "policy"})
"""Tables of format 1 whose rows are not carried over."""
SHAPES: Mapping[str, int] = {
    "content": 1, "schema": 2, "subject": 2, "version": 3, "name": 4, "encoding": 3, "codec": 3, "counter": 4, "policy": 1,
    "config": 3, "mode": 3, "association": 3, "context": 1, "source": 1, "type": 1, "outcome": 1, "runner": 1, "topic": 1,
    "sealing": 1, "lineage": 1, "fold": 1, "aside": 2,
}  # fmt: skip
"""Every table of format 1, and how many parts its keys had."""
OF_SUBJECT = ("ordinals", "types")
"""Kinds of counters that belong to one generation of a subject."""


@dataclass(slots=True)
class Known:
    """What must be known of all rows before one of them can be changed."""

    generations: dict[tuple[str, str], int] = field(default_factory=dict)
    wishes: dict[tuple[str, str], Wish] = field(default_factory=dict)
    configs: dict[Scope, Members] = field(default_factory=dict)
    policies: dict[str, Members] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Converted:
    """The rows of the new log, what was left out by table, and rows that nobody could read, which stay as they were."""

    rows: tuple[Encoded, ...]
    ended: Mapping[str, int]
    unreadable: tuple[OldRow, ...]


def converted(rows: Iterable[OldRow]) -> Converted:
    """Return today's rows for all live rows of a log of format 1."""
    read = [(row, *read_row(row)) for row in rows]
    known = _known((row.table, key, members) for row, key, members in read if members is not None)
    new: list[Encoded] = []
    ended: Counter[str] = Counter()
    unreadable = []
    for row, key, members in read:
        if members is None:
            unreadable.append(row)
            new.append(Encoded(RENAMED.get(row.table, row.table), row.key, row.value))
        elif row.table in ENDED or orphan(row.table, key, known):
            ended[row.table] += 1
        else:
            new.append(_changed(row.table, key, members, known))
    new += _new_configs(known)
    return Converted(tuple(new), dict(ended), tuple(unreadable))


def read_row(row: OldRow) -> tuple[Key, Members | None]:
    """Return the key and the members of a row, without its format; None where format 1 could not read it."""
    try:
        key, members = _loads(row.key), _loads(row.value or "")
    except (ValueError, RecursionError):
        return (), None
    if type(key) is not list or len(key) != SHAPES.get(row.table) or canonical(key) != row.key:
        return (), None
    if type(members) is not dict or members.pop("v", FORMAT) != FORMAT:
        return (), None
    return tuple(key), members


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> None:
    raise ValueError(word)  # NaN and its like can't be written again


def known_of(rows: Iterable[OldRow]) -> Known:
    """Return what must be known of all rows, from the rows."""
    read = ((row.table, *read_row(row)) for row in rows)
    return _known((table, key, members) for table, key, members in read if members is not None)


def _known(read: Iterable[tuple[str, Key, Members]]) -> Known:
    known = Known()
    for table, key, members in read:
        if table == "subject":
            known.generations[key[0], key[1]] = members.get("generation", 0)
            wish = Wish(members.get("policy", ""), tuple(members.get("validators", ())))
            if wish.policy or wish.validators:
                known.wishes[key[0], key[1]] = wish
        elif table == "config":
            known.configs[key[0], key[1], key[2]] = config_of(members)
        elif table == "policy":
            known.policies[key[0]] = members
    return known


def orphan(table: str, key: Key, known: Known) -> bool:
    """Tell whether a row is a counter of a subject that is gone: today it goes with it."""
    return table == "counter" and key[0] in OF_SUBJECT and (key[1], key[2]) not in known.generations


def _changed(table: str, key: Key, members: Members, known: Known) -> Encoded:
    change = _CHANGES.get(table)
    new_key, new = change(key, members, known) if change else (key, members)
    return _encoded(RENAMED.get(table, table), new_key, new)


def _encoded(table: str, key: Key, members: Members) -> Encoded:
    return Encoded(table, canonical([*key]), canonical({**members, "v": ROW_FORMAT}))


def _new_configs(known: Known) -> Iterator[Encoded]:
    """Config rows of subjects that had none, and had a policy of their own."""
    for subject, wish in known.wishes.items():
        scope: Scope = ("subject", *subject)
        if scope not in known.configs:
            yield _encoded("config", scope, with_policy(known.configs, known.policies, scope, wish))


# ------------------------------------------------------------------------------------- what becomes of single tables


def _schema(key: Key, members: Members, _: Known) -> tuple[Key, Members]:
    return key, _named(members, likeness="lookup_digest")


def _quarantine(key: Key, members: Members, _: Known) -> tuple[Key, Members]:
    return key, _named(members, why="reason")


def _subject(key: Key, members: Members, _: Known) -> tuple[Key, Members]:
    gone = ("policy", "validators", "purged_parts")
    return key, {name: value for name, value in members.items() if name not in gone}


def _version(key: Key, members: Members, known: Known) -> tuple[Key, Members]:
    context, subject, ordinal = key
    policy = members.get("policy")
    new = members if policy is None else {**members, "policy": policy_of(policy)}
    return (context, subject, known.generations.get((context, subject), 0), ordinal), new


def _name(key: Key, members: Members, known: Known) -> tuple[Key, Members]:
    context, subject, scheme, name = key
    return (context, subject, known.generations.get((context, subject), 0), scheme, name), members


def _counter(key: Key, members: Members, known: Known) -> tuple[Key, Members]:
    kind, context, subject, part = key
    generation = known.generations.get((context, subject), 0) if kind in OF_SUBJECT else 0
    return (kind, context, subject, generation, part), members


def _encoding(key: Key, members: Members, known: Known) -> tuple[Key, Members]:
    return key, {**members, "generation": known.generations.get((key[0], key[1]), 0)}


def _config(key: Key, _: Members, known: Known) -> tuple[Key, Members]:
    scope: Scope = (key[0], key[1], key[2])
    wish = known.wishes.get((key[1], key[2])) if key[0] == "subject" else None
    members = known.configs[scope]
    return key, members if wish is None else with_policy(known.configs, known.policies, scope, wish)


def _named(members: Members, **names: str) -> Members:
    return {names.get(name, name): value for name, value in members.items()}


_CHANGES: Mapping[str, Callable[[Key, Members, Known], tuple[Key, Members]]] = {
    "schema": _schema,
    "subject": _subject,
    "version": _version,
    "name": _name,
    "counter": _counter,
    "encoding": _encoding,
    "config": _config,
    "aside": _quarantine,
}
"""Tables whose rows look different today."""
