"""Made-up ``_schemas`` topics: every kind of record, and what they come to, worked out apart from the reader."""

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

CONTEXTS = ("", ":.a:", ":.b:")
LEVELS = ("NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE")
RECENT = 20
"""Schemas that new versions repeat or refer to."""

Line = tuple[dict[str, Any], dict[str, Any] | None]
Place = tuple[str, int]


@dataclass
class Topic:
    """Records written so far, and the state that they lead to: versions by (subject, number), settings by scope."""

    seed: int
    lines: list[Line] = field(default_factory=list)
    versions: dict[Place, dict[str, Any]] = field(default_factory=dict)
    configs: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    modes: dict[str | None, str] = field(default_factory=dict)
    contexts: set[str] = field(default_factory=set)
    associations: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By name of a topic and kind."""
    highest: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    _of: defaultdict[str, dict[int, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    """By subject: its versions by number."""
    _recent: defaultdict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))
    """By context: places in the order in which they were written."""
    _uses: Counter[Place] = field(default_factory=Counter)
    """By place: versions that refer to it."""

    magics: dict[Place, set[int]] = field(default_factory=dict)
    """The magic bytes of the keys that a version was written under: compaction knows keys, and not versions."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def write(self, key: dict[str, Any], value: dict[str, Any] | None) -> None:
        self.lines.append((key, value))

    def put(self, place: Place, value: dict[str, Any]) -> None:
        """Write a version."""
        self.versions[place] = self._of[place[0]][place[1]] = value

    def drop(self, place: Place) -> None:
        """Forget a version."""
        gone = self.versions.pop(place)
        del self._of[place[0]][place[1]]
        self._uses.subtract(targets(place[0], gone))

    def mine(self, subject: str) -> dict[int, dict[str, Any]]:
        """All versions of a subject, by number."""
        return self._of[subject]

    def recent(self, subject: str) -> list[Place]:
        """The last places in a subject's context that are still there."""
        there = self._recent[context_of(subject)]
        return [one for one in there[-RECENT:] if one in self.versions]

    def referenced(self, place: Place) -> bool:
        return self._uses[place] > 0

    def note(self, place: Place) -> None:
        """A version is new: what it refers to is used once more."""
        self._recent[context_of(place[0])].append(place)
        self._uses.update(targets(place[0], self.versions[place]))

    def text(self) -> bytes:
        """As console consumers print it, half of it; the other half as JSON lines."""
        lines = (
            f"{json.dumps(key)}\t{json.dumps(value)}\n"
            if at % 2
            else json.dumps({"key": key, "value": value}, ensure_ascii=False) + "\n"
            for at, (key, value) in enumerate(self.lines)
        )
        return "".join(lines).encode()


def targets(subject: str, value: dict[str, Any]) -> list[Place]:
    return [(context_of(subject) + one["subject"], one["version"]) for one in value.get("references", ())]


def topic(seed: int, count: int) -> Topic:
    """A topic of `count` schemas and what happened to them."""
    made = Topic(seed)
    made.write({"keytype": "NOOP", "magic": 0}, None)
    for name in (".a", ".b", ".empty", ".gone"):
        context(made, name)
    subjects = [f"{prefix}s{at}" for at in range(max(count // 5, 3)) for prefix in CONTEXTS]
    for _ in range(count):
        register(made, made.random.choice(subjects))
        happen(made, made.random.random(), made.random.choice(subjects))
    context(made, ".gone", there=False)
    settle(made, sorted({subject for subject, _ in made.versions}))
    live = sorted({subject for (subject, _), value in made.versions.items() if not value.get("deleted")})
    for at, subject in enumerate(made.random.sample(live, len(live) // 5)):
        associate(made, f"topic{at // 2}", ("key", "value")[at % 2], subject)
    associate(made, "topic0", "key", live[0], there=False)
    return made


def settle(made: Topic, subjects: list[str]) -> None:
    """Settings at every kind of scope, of subjects without versions too; some are changed or forgotten again."""
    for subject in [
        *made.random.sample(subjects, len(subjects) // 4),
        None,
        ":.a:",
        ":.__GLOBAL:",
        "never",
        ":.b:never",
    ]:
        config(made, subject)
    for subject in made.random.sample(subjects, len(subjects) // 20):
        config(made, subject)
        config(made, subject, there=False)
    for subject in [*made.random.sample(subjects, len(subjects) // 6), ":.empty:", ":.b:none"]:
        mode(made, subject, "READONLY")
    for subject in made.random.sample(subjects, len(subjects) // 20):
        mode(made, subject, "IMPORT")
        mode(made, subject, None)


def context_of(subject: str) -> str:
    return subject.rpartition(":")[0] + ":" if subject.startswith(":") else ""


def register(made: Topic, subject: str) -> None:
    """A new version: a new schema, or one that the context has already."""
    number = made.numbers[subject] = made.numbers.get(subject, 0) + 1
    alike = [made.versions[one] for one in made.recent(subject)]
    one = made.random.choice(alike) if alike and made.random.random() < 0.1 else fresh(made, subject)
    if any(kept["id"] == one["id"] for kept in made.mine(subject).values()):
        one = fresh(made, subject)
    value = {**one, "subject": subject, "version": number}
    for left in ("deleted", "ts"):
        value.pop(left, None)
    old = made.random.random() < 0.2
    if not old:
        value |= {"deleted": False, "ts": 1_600_000_000_000 + len(made.lines)}
    made.put((subject, number), value)
    made.note((subject, number))
    write_version(made, (subject, number), value, 0 if old else 1)


def write_version(made: Topic, place: Place, value: dict[str, Any], magic: int = 1) -> None:
    made.magics.setdefault(place, set()).add(magic)
    made.write(key_of(place, magic), value)


def fresh(made: Topic, subject: str) -> dict[str, Any]:
    place = context_of(subject)
    schema_id = made.highest[place] = made.highest.get(place, 0) + made.random.choice((1, 1, 1, 7))
    name = f"R{schema_id}"
    fields: list[dict[str, Any]] = [{"name": "größe", "type": "int"}]
    one: dict[str, Any] = {"id": schema_id}
    bases = [
        each
        for each in made.recent(subject)
        if "references" not in made.versions[each] and not made.versions[each].get("deleted")
    ]
    if bases and made.random.random() < 0.1:
        target, number = made.random.choice(bases)
        kind = json.loads(made.versions[target, number]["schema"])["name"]
        fields.append({"name": "base", "type": kind})
        one["references"] = [{"name": kind, "subject": target.removeprefix(place), "version": number}]
    if made.random.random() < 0.2:
        one["metadata"] = {"properties": {"owner": f"team {schema_id}"}}
    if made.random.random() < 0.1:
        rule = {"name": "check", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "true", "disabled": False}
        one["ruleSet"] = {"domainRules": [rule]}
    one["schema"] = json.dumps(
        {"type": "record", "name": name, "fields": fields}, separators=(",", ":"), ensure_ascii=False
    )
    return one


def happen(made: Topic, chance: float, subject: str) -> None:
    """What else happens to versions: deletions of both kinds, old and new ways."""
    every = made.mine(subject)
    free = [number for number in every if not made.referenced((subject, number))]
    live = [number for number in free if not every[number].get("deleted")]
    soft = [number for number in free if every[number].get("deleted")]
    if chance < 0.06 and live:
        place = (subject, made.random.choice(live))
        made.put(place, {**made.versions[place], "deleted": True})
        write_version(made, place, made.versions[place])
    elif chance < 0.10 and live and len(live) == len(every):
        made.write(
            {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}, {"subject": subject, "version": max(live)}
        )
        for number in live:
            made.put((subject, number), {**every[number], "deleted": True})
    elif chance < 0.13 and soft:
        for magic in sorted(made.magics[subject, soft[0]]):
            made.write(key_of((subject, soft[0]), magic), None)
        made.drop((subject, soft[0]))
    elif chance < 0.14 and len(free) == len(every):
        made.write({"keytype": "CLEAR_SUBJECT", "subject": subject, "magic": 0}, {"subject": subject})
        for number in soft:
            made.drop((subject, number))


def key_of(place: Place, magic: int) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": place[0], "version": place[1], "magic": magic}


def context(made: Topic, name: str, *, there: bool = True) -> None:
    key = {"keytype": "CONTEXT", "tenant": "default", "context": name, "magic": 0}
    made.write(key, {"tenant": "default", "context": name} if there else None)
    (made.contexts.add if there else made.contexts.discard)(name)


def config(made: Topic, subject: str | None, *, there: bool = True) -> None:
    key = {"keytype": "CONFIG", "subject": subject, "magic": 0}
    if not there:
        made.write(key, None)
        made.configs.pop(subject, None)
        return
    value: dict[str, Any] = {"compatibilityLevel": made.random.choice(LEVELS[2:])}
    if subject and made.random.random() < 0.3:
        value |= {"normalize": True, "compatibilityGroup": "major"}
    made.configs[subject] = value
    made.write(key, value if subject is None else {"subject": subject, **value})


def mode(made: Topic, subject: str | None, word: str | None) -> None:
    made.write(
        {"keytype": "MODE", "subject": subject, "magic": 0}, {"subject": subject, "mode": word} if word else None
    )
    if word:
        made.modes[subject] = word
    else:
        made.modes.pop(subject, None)


def associate(made: Topic, name: str, kind: str, subject: str, *, there: bool = True) -> None:
    """Tie a topic to a subject; strongly only where nobody refers to it. Or forget what ties it."""
    old = made.associations.get((name, kind))
    key: dict[str, Any] = {"keytype": "ASSOC", "tenant": "default", "resourceName": name, "resourceNamespace": "lkc-1"}
    key |= {"resourceType": "topic", "associationType": kind, "subject": old["subject"] if old else subject, "magic": 0}
    if not there:
        made.write(key, None)
        made.associations.pop((name, kind), None)
        return
    strong = made.random.random() < 0.3 and not any(made.referenced((subject, number)) for number in made.mine(subject))
    value = {
        "subject": subject, "guid": str(UUID(int=made.random.getrandbits(128))), "resourceName": name,
        "resourceNamespace": "lkc-1", "resourceId": f"id-of-{name}", "resourceType": "topic", "associationType": kind,
        "lifecycle": "STRONG" if strong else "WEAK", "frozen": strong and made.random.random() < 0.5,
        "createTs": 1_600_000_000_000 + len(made.lines), "updateTs": 1_600_000_000_001 + len(made.lines),
    }  # fmt: skip
    made.associations[name, kind] = value
    made.write(key, value)
