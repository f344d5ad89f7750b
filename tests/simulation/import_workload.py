"""What importers ask: subjects, versions and encodings with their numbers, mostly in a context that takes them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.simulation.asker import MOST_IDS, Asker, level
from tests.simulation.group_workload import IDENTITIES, SPELLED, TYPES, draft, ordinal, properties
from tests.simulation.texts import AVRO, OUTER, TOY
from tests.worlds.drafts import described
from treaty.core.messages import groups as grouped
from treaty.core.messages import transfers as carried
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType, GetEncoding
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema, ReferencedBy
from treaty.core.messages.schemaver import DeletePublished, GetPublished, Publish
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.policy import ForcedRegistration, Level, VersionRange
from treaty.core.schema import Draft, Reference
from treaty.core.state.values import PolicyValue


def settings(ask: Asker) -> grouped.GroupSettings:
    """Mostly right ones; a policy is not among them."""
    return grouped.GroupSettings(
        ask.chance.choice(["pravega", "confluent", "schema-repo"]),
        ask.chance.choice(TYPES),
        identity=ask.chance.choice(IDENTITIES),
        policy=Config(level="NONE") if ask.often(0.05) else None,
        properties=properties(ask),
    )


def highest(ask: Asker) -> carried.HighestNumbers:
    """Mostly none, at times some that are too high."""
    if ask.often(0.5):
        return carried.HighestNumbers()
    types = ((ask.chance.choice(["TOY", "AVRO"]), ask.type_name(), ask.chance.randint(-1, 3)),)
    far = ask.chance.choice([2**31, 5_000_000]) if ask.often(0.05) else ask.chance.randint(-1, 4)
    return carried.HighestNumbers(far, ask.chance.randint(-1, 4), types)


def import_subject(ask: Asker) -> Request[Any]:
    """At times one that is removed: what is drawn for its numbers says so."""
    subject, chosen, used = ask.subject(), settings(ask), highest(ask)
    return carried.ImportSubject(subject, chosen, used, removed=used.encoding == 4)


def import_version(ask: Asker) -> Request[Any]:
    policy = level(ask) if ask.often(0.3) else None
    return carried.ImportVersion(
        ask.subject(),
        draft(ask),
        ordinal(ask),
        ask.chance.choice([1, 1, 2, 2, 3, 4, 0]),
        ask.chance.choice([-1, -1, 1, 2, 3, 4, 5]),
        ask.chance.choice([-1, -1, -1, 0, 1, 2]),
        ask.chance.choice(["live", "live", "soft", "hidden"]),
        None if policy is None else PolicyValue(policy.backward, policy.forward, policy.deny),
        ForcedRegistration("ann", "moved") if ask.often(0.1) else None,
        ask.properties(),
        ask.chance.choice([(("old", "x"),), (("old", "y"),), (("old", "z"), ("old", "x"))]) if ask.often(0.2) else (),
        ask.chance.choice([0, 0, 7, -5]) if ask.often(0.3) else 0,
        revision=ask.chance.choice([0, 0, 1]) if ask.often(0.2) else 0,
        revision_of=ordinal(ask) if ask.often(0.1) else -1,
        superseded_by=ordinal(ask) if ask.often(0.1) else -1,
    )


def after_subject(ask: Asker) -> Subject | None:
    return ask.subject() if ask.often(0.3) else None


def prefix(ask: Asker) -> Subject:
    return ask.chance.choice(
        [Subject("*", ""), Subject("*", ""), Subject(".", ""), Subject(".x", "s"), Subject("*", "s")]
    )


def export_versions(ask: Asker) -> Request[Any]:
    last = (ask.subject(), ordinal(ask)) if ask.often(0.4) else None
    return carried.ExportVersions(prefix(ask), last, ask.chance.choice([1000, 1000, 3, 1, 0]))


GENERATORS: Mapping[type, tuple[float, Callable[[Asker], Any]]] = {
    carried.ImportSubject: (1, import_subject),
    carried.ImportVersion: (2, import_version),
    carried.ImportEncoding: (
        1,
        lambda a: carried.ImportEncoding(a.subject(), a.chance.choice([0, 1, 2, 5, -1]), ordinal(a), a.codec_name()),
    ),
    carried.ExportSubjects: (
        0.5,
        lambda a: carried.ExportSubjects(prefix(a), after_subject(a), a.chance.choice([1000, 2, 0])),
    ),
    carried.ExportVersions: (1, export_versions),
}
"""Kinds of requests of transfers: how often, and what."""


def move_in(ask: Asker) -> list[Request[Any]]:
    """Import a group with gaps, deleted versions and encodings into a context that takes them, and go on with it."""
    subject = ask.subject()
    texts = [Draft(ask.chance.choice(SPELLED), "TOY") for _ in range(3)]
    places = sorted(ask.chance.sample(range(5), 3))
    states: list[carried.KeptState] = [
        "hidden" if ask.often(0.3) else "soft" if ask.often(0.3) else "live" for _ in texts
    ]
    gzip = AddCodec(subject, CodecType("gzip"))
    imports = [
        carried.ImportVersion(subject, text, at, at + 1, type_version=ask.chance.choice([-1, at]), state=state)
        for text, at, state in zip(texts, places, states, strict=True)
    ]
    if ask.often(0.3):
        ask.chance.shuffle(imports)
    return [
        grouped.RemoveSubject(subject),
        SetMode(Scope(subject.context), "IMPORT", force=True),
        carried.ImportSubject(subject, settings(ask), highest(ask)),
        gzip,
        *imports,
        imports[-1],
        carried.ImportEncoding(subject, 3, places[0], "gzip"),
        carried.ImportEncoding(subject, ask.chance.choice([3, 1]), places[1], ask.chance.choice(["", "gzip"])),
        SetMode(Scope(subject.context), "READWRITE", force=True),
        Register(subject, ask.chance.choice(texts)),
        AssignEncoding(subject, places[-1]),
        GetEncoding(subject, 3),
        carried.ExportSubjects(),
        carried.ExportVersions(),
    ]


def _needed(ask: Asker, subject: Subject, number: int) -> list[Request[Any]]:
    """What makes others need a version: references, in any state and context, encodings, an alias, a topic, a range, labels."""
    text, kind, name = OUTER
    user = ask.chance.choice([Subject(".", "t"), Subject(".x", "s"), subject])
    draft = Draft(text, kind, (Reference(name, f":{subject.context}:{subject.name}", number),))
    refer: Request[Any] = Register(user, draft)
    topic = Resource("t1", "ns", "id-t1")
    level = Config(exact_level=Level(VersionRange("till", number - 1)))
    return ask.chance.choice(
        [
            [refer],
            [refer, DeleteSubject(user)],
            [refer, DeleteVersion(user, -1), DeleteVersion(user, ask.number(), permanent=True)],
            [refer, Register(user, ask.record())],
            [AssignEncoding(subject, number - 1)],
            [AssignEncoding(subject, number - 1), DeleteVersion(subject, number), refer],
            [SetConfig(Scope(".", "a"), Config(alias=subject.name)), refer],
            [Associate(topic, (AssociationSpec("value", subject, ask.chance.choice(["STRONG", "WEAK"])),))],
            [SetConfig(Scope(*subject), level)],
            [DeleteVersion(subject, number), Register(subject, ask.record()), refer],
        ]
    )


def import_over(ask: Asker) -> list[Request[Any]]:
    """Have three versions that others need, and import versions over them by number and by ordinal; go on with who needs them."""
    subject, number = ask.subject(), ask.chance.choice([1, 2, 2, 3])
    drafts = [Draft(text, "AVRO") for text in AVRO[:3]]
    other = ask.chance.choice([Draft(AVRO[3], "AVRO"), Draft(AVRO[4], "AVRO"), *drafts])
    again = Register(subject, other, number=number, schema_id=ask.chance.choice([MOST_IDS, MOST_IDS + 1, 1, 2]))
    grouped_ = carried.ImportVersion(subject, other, ordinal(ask), number, state=ask.chance.choice(["live", "hidden"]))
    alias: list[Request[Any]] = [replace(again, subject=Subject(".", "a"))] if ask.often(0.2) else []
    return [
        *([DeleteSubject(subject), DeleteSubject(subject, permanent=True)] if ask.often(0.6) else []),
        SetConfig(Scope(*subject), Config(level="NONE")),
        *(Register(subject, one) for one in drafts),
        *_needed(ask, subject, number),
        SetMode(Scope(*subject), "IMPORT", force=True),
        *ask.chance.sample([again, grouped_, replace(again, number=ask.chance.choice([1, 2, 3, 5])), *alias], 3),
        SetMode(Scope(*subject), None),
        ReferencedBy(subject, number, ask.often(0.5)),
        ListVersions(subject, "all"),
        *_needed(ask, subject, ask.chance.choice([1, 2, 3])),
        GetSchema(ask.chance.randint(1, 4)),
    ]


def import_over_labels(ask: Asker) -> list[Request[Any]]:
    """Labels with rules and metadata that were patched and superseded, then deleted or imported over, and what is left."""
    name = Subject(".", ask.chance.choice(["v/n/toy", "v/m/toy"]))
    texts = [described(Draft(one, "TOY"), ask.chance.choice("12")) for one in TOY[3:7]]
    number, label = ask.chance.choice([1, 2, 3]), ask.chance.choice(["1-0-0", "1-0-1", "1-0-2"])
    draft = Draft('["a"]', "TOY", (Reference("n", name.name, number),))
    over = Register(name, Draft('["c"]', "TOY"), number=number, schema_id=MOST_IDS + 2, names=(("schemaver", "1-0-7"),))
    steps: list[Request[Any]] = [
        Publish(name, label, ask.chance.choice(texts), patch=True),
        DeletePublished(name, label),
        Register(Subject(".", "t"), draft),
        AssignEncoding(name, number - 1),
        DeleteVersion(name, number, permanent=True, force=ask.often(0.5)),
    ]
    return [
        *([grouped.RemoveSubject(name)] if ask.often(0.7) else []),
        Publish(name, "1-0-0", texts[0]),
        Publish(name, "1-0-1", texts[1], supersedes=("1-0-0",)),
        Publish(name, "1-0-2", texts[2], supersedes=("1-0-1",)),
        *ask.chance.sample(steps, 3),
        SetMode(Scope(*name), "IMPORT", force=True),
        *ask.chance.sample([over, Publish(name, label, texts[3], supersedes=("1-0-0",)), *steps[:2]], 2),
        SetMode(Scope(*name), None),
        carried.ExportVersions(Subject(".", name.name)),
        *(GetPublished(name, one) for one in ("1-0-0", "1-0-1", "1-0-2")),
        Publish(name, label, texts[3]),
    ]


ERRANDS: Mapping[str, tuple[float, Callable[[Asker], list[Request[Any]]]]] = {
    "moved in": (2, move_in),
    "imported over": (3, import_over),
    "imported over labels": (2, import_over_labels),
}
"""Errands by what is counted: how often, and what is asked."""
