"""Made-up ``_schemas`` topics: every kind of record, and what they come to, worked out apart from the reader."""

import json
import random
from dataclasses import dataclass, field
from typing import Any

CONTEXTS = ("", ":.a:", ":.b:")
LEVELS = ("NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE")

Line = tuple[dict[str, Any], dict[str, Any] | None]


@dataclass
class Topic:
    """Records written so far, and the state that they lead to: versions by (subject, number)."""

    seed: int
    lines: list[Line] = field(default_factory=list)
    versions: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    configs: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    highest: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def write(self, key: dict[str, Any], value: dict[str, Any] | None) -> None:
        self.lines.append((key, value))

    def text(self) -> bytes:
        """As console consumers print it, half of it; the other half as JSON lines."""
        lines = (
            f"{json.dumps(key)}\t{json.dumps(value)}\n"
            if at % 2
            else json.dumps({"key": key, "value": value}, ensure_ascii=False) + "\n"
            for at, (key, value) in enumerate(self.lines)
        )
        return "".join(lines).encode()


def topic(seed: int, count: int) -> Topic:
    """A topic of `count` schemas and what happened to them."""
    made = Topic(seed)
    made.write({"keytype": "NOOP", "magic": 0}, None)
    made.write(
        {"keytype": "CONTEXT", "tenant": "default", "context": ".a", "magic": 0}, {"tenant": "default", "context": ".a"}
    )
    subjects = [f"{context}s{at}" for at in range(max(count // 5, 3)) for context in CONTEXTS]
    for _ in range(count):
        register(made, made.random.choice(subjects))
        happen(made, made.random.random(), subjects)
    subjects = sorted({subject for subject, _ in made.versions})
    for subject in made.random.sample(subjects, len(subjects) // 4):
        config(made, subject)
    config(made, None)
    for subject in made.random.sample(subjects, len(subjects) // 6):
        made.write({"keytype": "MODE", "subject": subject, "magic": 0}, {"subject": subject, "mode": "READONLY"})
        made.modes[subject] = "READONLY"
    return made


def context_of(subject: str) -> str:
    return subject.rpartition(":")[0]


def register(made: Topic, subject: str) -> None:
    """A new version: a new schema, or one that the context has already."""
    context = context_of(subject)
    number = made.numbers[subject] = made.numbers.get(subject, 0) + 1
    alike = [one for (name, _), one in made.versions.items() if context_of(name) == context]
    if alike and made.random.random() < 0.1:
        one = made.random.choice(alike[-20:])
        if any(kept["id"] == one["id"] for (name, _), kept in made.versions.items() if name == subject):
            one = fresh(made, context)
    else:
        one = fresh(made, context)
    value = {**one, "subject": subject, "version": number}
    value.pop("deleted", None)
    old = made.random.random() < 0.2
    if not old:
        value |= {"deleted": False, "ts": 1_700_000_000_000 + number}
    made.versions[subject, number] = value
    made.write({"keytype": "SCHEMA", "subject": subject, "version": number, "magic": 0 if old else 1}, value)


def fresh(made: Topic, context: str) -> dict[str, Any]:
    schema_id = made.highest[context] = made.highest.get(context, 0) + made.random.choice((1, 1, 1, 7))
    name = f"R{schema_id}"
    fields: list[dict[str, Any]] = [{"name": "größe", "type": "int"}]
    one: dict[str, Any] = {"id": schema_id}
    bases = [
        (place, kept)
        for place, kept in made.versions.items()
        if context_of(place[0]) == context and "references" not in kept and not kept.get("deleted")
    ]
    if bases and made.random.random() < 0.1:
        (subject, number), base = made.random.choice(bases[-20:])
        target = json.loads(base["schema"])["name"]
        fields.append({"name": "base", "type": target})
        one["references"] = [{"name": target, "subject": subject.rpartition(":")[2], "version": number}]
    if made.random.random() < 0.2:
        one["metadata"] = {"properties": {"owner": f"team {schema_id}"}}
    if made.random.random() < 0.1:
        rule = {"name": "check", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "true", "disabled": False}
        one["ruleSet"] = {"domainRules": [rule]}
    one["schema"] = json.dumps(
        {"type": "record", "name": name, "fields": fields}, separators=(",", ":"), ensure_ascii=False
    )
    return one


def happen(made: Topic, chance: float, subjects: list[str]) -> None:
    """What else happens to versions: deletions of both kinds, old and new ways."""
    subject = made.random.choice(subjects)
    mine = [place for place in made.versions if place[0] == subject and not referenced(made, place)]
    live = [place for place in mine if not made.versions[place].get("deleted")]
    if chance < 0.06 and live:
        place = made.random.choice(live)
        value = made.versions[place] = {**made.versions[place], "deleted": True}
        made.write(key_of(place), value)
    elif chance < 0.10 and mine and len(live) == len([one for one in made.versions if one[0] == subject]):
        mark = max(number for _, number in mine)
        made.write({"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}, {"subject": subject, "version": mark})
        for place in mine:
            made.versions[place] = {**made.versions[place], "deleted": True}
    elif chance < 0.13:
        gone = [place for place in mine if made.versions[place].get("deleted")]
        if gone:
            made.write(key_of(gone[0]), None)
            del made.versions[gone[0]]
    elif chance < 0.14 and len(mine) == len([one for one in made.versions if one[0] == subject]):
        made.write({"keytype": "CLEAR_SUBJECT", "subject": subject, "magic": 0}, {"subject": subject})
        for place in [one for one in mine if made.versions[one].get("deleted")]:
            del made.versions[place]


def key_of(place: tuple[str, int]) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": place[0], "version": place[1], "magic": 1}


def referenced(made: Topic, place: tuple[str, int]) -> bool:
    subject, number = place
    bare, context = subject.rpartition(":")[2], context_of(subject)
    return any(
        (one["subject"], one["version"]) == (bare, number)
        for (name, _), kept in made.versions.items()
        if context_of(name) == context
        for one in kept.get("references", ())
    )


def config(made: Topic, subject: str | None) -> None:
    value: dict[str, Any] = {"compatibilityLevel": made.random.choice(LEVELS[2:])}
    if subject and made.random.random() < 0.3:
        value |= {"normalize": True, "compatibilityGroup": "major"}
    made.configs[subject] = value
    made.write(
        {"keytype": "CONFIG", "subject": subject, "magic": 0},
        value if subject is None else {"subject": subject, **value},
    )
