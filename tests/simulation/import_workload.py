"""What importers ask: subjects, versions and encodings with their numbers, mostly in a context that takes them."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.asker import Asker, level
from tests.simulation.group_workload import IDENTITIES, SPELLED, TYPES, draft, ordinal, properties
from treaty.core.answers import Config, ForcedRegistration
from treaty.core.messages import groups as grouped
from treaty.core.messages import transfers as carried
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType, GetEncoding
from treaty.core.names import Subject
from treaty.core.requests import Register, Request, Scope, SetMode
from treaty.core.schema import Draft
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


ERRANDS: Mapping[str, tuple[float, Callable[[Asker], list[Request[Any]]]]] = {"moved in": (2, move_in)}
"""Errands by what is counted: how often, and what is asked."""
