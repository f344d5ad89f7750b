"""What clients ask of versions with labels of SchemaVer: over few names and few labels, so that they race for the next one."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.asker import Asker
from tests.simulation.texts import TOY
from treaty.core.messages import schemaver as s
from treaty.core.messages.encodings import AssignEncoding, GetEncoding
from treaty.core.messages.groups import ChangeSubject, GetOrdinal, RemoveSubject
from treaty.core.messages.names import GetNamedVersion
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.schema import Draft

NAMES = ("v/n/toy", "v/m/toy", "v.w/n/avro")
LABELS = ("1-0-0", "1-0-1", "1-0-2", "1-0-10", "1-1-0", "1-1-1", "2-0-0", "2-0-1", "1-0", "01-0-0", "0-0-0")


def subject(ask: Asker) -> Subject:
    """At times one that is no name of Iglu."""
    return ask.subject() if ask.often(0.05) else Subject(".", ask.chance.choices(NAMES, (8, 2, 2))[0])


def label(ask: Asker) -> str:
    return ask.chance.choices(LABELS, (8, 8, 5, 2, 5, 3, 5, 3, 0.3, 0.3, 0.3))[0]


def draft(ask: Asker) -> Draft:
    return Draft(ask.chance.choice(TOY), "TOY") if ask.often(0.9) else ask.draft()


def publish(ask: Asker) -> Request[Any]:
    return s.Publish(
        subject(ask),
        label(ask),
        draft(ask),
        ask.chance.choice([None, False, True]) if ask.often(0.1) else None,
        tuple(label(ask) for _ in range(ask.chance.randint(1, 2))) if ask.often(0.3) else (),
        ask.often(0.3),
    )


def listed(ask: Asker) -> Request[Any]:
    vendor, name, format_ = ask.chance.choice(NAMES).split("/")
    after = (ask.chance.choice(NAMES), ask.chance.choice(LABELS[:8])) if ask.often(0.3) else None
    return s.ListPublished(
        vendor if ask.often(0.6) else "",
        name if ask.often(0.3) else "",
        format_ if ask.often(0.3) else "",
        ask.chance.choice([0, 0, 1, 2]),
        after,
        ask.chance.randint(0, 6),
    )


GENERATORS: Mapping[type, tuple[float, Callable[[Asker], Any]]] = {
    s.Publish: (10, publish),
    s.DeletePublished: (2, lambda a: s.DeletePublished(subject(a), label(a))),
    s.PutDraft: (
        1,
        lambda a: s.PutDraft(subject(a), a.chance.randint(0, 2), a.chance.choice(["{}", "{"]), a.often(0.2)),
    ),
    s.GetPublished: (3, lambda a: s.GetPublished(subject(a), label(a))),
    s.ListPublished: (2, listed),
    s.GetDraft: (1, lambda a: s.GetDraft(subject(a), a.chance.randint(0, 2))),
}
"""Kinds of requests of labels: how often, and what."""


def race_for_labels(ask: Asker) -> list[Request[Any]]:
    """Publish one label after the other, with texts that fit and texts that do not, and look at all."""
    name = Subject(".", NAMES[0])
    wanted = ["1-0-0", "1-0-1", ask.chance.choice(["1-0-2", "1-1-0"]), "1-0-2", ask.chance.choice(["1-1-0", "2-0-0"])]
    return [
        *([RemoveSubject(name)] if ask.often(0.5) else []),
        *(s.Publish(name, one, draft(ask)) for one in wanted),
        ChangeSubject(name, label_policy=ask.chance.choice(["warn", "refuse", "refuse"])),
        s.Publish(name, ask.chance.choice(["1-1-1", "2-0-1"]), draft(ask)),
        s.ListPublished("v", limit=9),
        Register(name, draft(ask), names=(("schemaver", label(ask)),)),
        GetNamedVersion(name, "1-0-1"),
    ]


def patch_texts(ask: Asker) -> list[Request[Any]]:
    """Give a version other texts, and take it away: former ones are read by their ids until then."""
    name = Subject(".", ask.chance.choice(NAMES[:2]))
    texts = [Draft(one, "TOY") for one in ask.chance.sample(TOY[:5], 3)]
    return [
        s.Publish(name, "1-0-0", texts[0]),
        s.Publish(name, "1-0-1", texts[1]),
        AssignEncoding(name, 0),
        *(s.Publish(name, "1-0-0", ask.chance.choice(texts), patch=True) for _ in range(3)),
        GetEncoding(name, 0),
        GetSchema(ask.chance.randint(1, 4)),
        GetVersion(name, 1),
        GetOrdinal(name, ask.chance.choice([2, 3, 4])),
        s.DeletePublished(name, "1-0-0"),
        *([DeleteVersion(name, 1, permanent=True, force=ask.often(0.7))] if ask.often(0.6) else []),
        s.Publish(name, "1-0-0", ask.chance.choice(texts)),
        s.GetPublished(name, "1-0-0"),
    ]


def supersede(ask: Asker) -> list[Request[Any]]:
    """Chains of versions that supersede each other, in two models."""
    name = Subject(".", NAMES[1])
    steps = [("1-0-0", ()), ("1-0-1", ("1-0-0",)), ("2-0-0", ()), ("1-0-2", ("1-0-1",)), ("2-0-1", ("1-0-0",))]
    chosen = [s.Publish(name, one, draft(ask), supersedes=wanted) for one, wanted in steps if ask.often(0.9)]
    return [
        *([RemoveSubject(name)] if ask.often(0.6) else []),
        *chosen,
        s.Publish(name, "1-0-3", draft(ask), supersedes=("1-0-0", ask.chance.choice(["1-0-1", "2-0-0", "1-0-2"]))),
        s.GetPublished(name, ask.chance.choice(["1-0-0", "1-0-1", "2-0-1"])),
        s.DeletePublished(name, ask.chance.choice(["1-0-2", "2-0-1"])),
        s.ListPublished("v", "m"),
    ]


def move_labels_in(ask: Asker) -> list[Request[Any]]:
    """Publish in mode IMPORT, where gaps are told and not refused."""
    name = Subject(".", NAMES[2])
    return [
        SetMode(Scope(*name), "IMPORT", force=True),
        s.Publish(name, "1-0-3", draft(ask)),
        s.Publish(name, ask.chance.choice(["1-0-1", "1-0-10", "1-1-0"]), draft(ask)),
        s.Publish(name, "1-0-4", draft(ask), patch=ask.often(0.5)),
        SetMode(Scope(*name), None),
        s.ListPublished("v.w"),
    ]


ERRANDS: Mapping[str, tuple[float, Callable[[Asker], list[Request[Any]]]]] = {
    "labels raced for": (3, race_for_labels),
    "texts patched": (3, patch_texts),
    "versions superseded": (2, supersede),
    "labels moved in": (1, move_labels_in),
}
"""Errands by what is counted: how often, and what is asked."""
