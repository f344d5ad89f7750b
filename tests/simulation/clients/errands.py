"""Requests that belong together: one after the other at one node, or all at once, so that one chain has them all."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.asker import MOST_IDS, TAGGED, Asker, level
from tests.simulation.group_workload import ERRANDS as OF_GROUPS
from tests.simulation.import_workload import ERRANDS as OF_IMPORTS
from tests.simulation.label_workload import ERRANDS as OF_LABELS
from tests.simulation.texts import OUTER
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Derive, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, DeleteConfig, GetConfig, GetMode, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.policy import LEVELS
from treaty.core.schema import Draft, Metadata, Reference

Errand = Callable[[Asker], list[Request[Any]]]
Y = Subject(".y", "s")


def purge(ask: Asker) -> list[Request[Any]]:
    """Remove a subject for good and make it again: whoever comes now is somebody else."""
    subject = ask.subject()
    return [DeleteSubject(subject), DeleteSubject(subject, permanent=True), Register(subject, ask.draft())]


def rename(ask: Asker) -> list[Request[Any]]:
    """Give a version a name, remove the subject, and give the name again to another one: each index loses several keys."""
    subject, name = ask.subject(), (("scheme", ask.chance.choice("ab")),)
    first, second = ask.draft(), ask.draft()
    return [
        Register(subject, first, names=name),
        Register(subject, second),
        DeleteSubject(subject),
        DeleteSubject(subject, permanent=True),
        Register(subject, ask.chance.choice([first, second]), names=name),
        Lookup(subject, first),
    ]


def replace_version(ask: Asker) -> list[Request[Any]]:
    """Remove the latest version for good, and register its schema and another one."""
    subject, draft = ask.subject(), ask.draft()
    number = ask.chance.choice([1, 2, 3])
    return [
        Register(subject, draft),
        DeleteVersion(subject, number),
        DeleteVersion(subject, number, permanent=True),
        Register(subject, draft),
        Register(subject, ask.draft()),
        ListVersions(subject, "all"),
    ]


def renew_context(ask: Asker) -> list[Request[Any]]:
    """Make a context, use it, delete it, and use it again: no id of it may be given a second time."""
    first, scope = ask.draft(), Scope(Y.context)
    made: list[Request[Any]] = [
        SetMode(scope, "IMPORT"),
        MakeContext(Y.context, ask.chance.randint(0, MOST_IDS)),
        SetMode(scope, "READWRITE"),
    ]
    return [
        *(made if ask.often(0.5) else []),
        Register(Y, first),
        DeleteSubject(Y),
        DeleteSubject(Y, permanent=True),
        DeleteContext(Y.context),
        Register(Y, ask.chance.choice([first, ask.draft()])),
    ]


def turn_alias(ask: Asker) -> list[Request[Any]]:
    """Turn an alias from one subject to another, and work through it; at times it leads to itself, or back."""
    alias = Subject(".", "a")
    first, second = ask.alias(), ask.alias()
    asked: list[Request[Any]] = [
        SetConfig(Scope(*alias), Config(alias=first)),
        Register(alias, ask.draft()),
        GetVersion(alias, 1),
        SetConfig(Scope(*alias), Config(alias=second)),
        GetVersion(alias, 1),
        GetVersion(alias, -1),
        GetVersion(alias, -1, exact=True),
        DeleteVersion(alias, ask.number()),
    ]
    back = SetConfig(Scope(".", "t"), Config(alias="a"))
    return [*asked, back, GetVersion(Subject(".", "t"), 1), DeleteConfig(back.scope)] if ask.often(0.3) else asked


def create_with(ask: Asker) -> list[Request[Any]]:
    """Make a subject with a policy of its own, after or before the config is set against it; then name one again."""
    subject, word = ask.subject(), ask.chance.choice(list(LEVELS))
    creation = SubjectCreation(
        policy=Config(level=ask.chance.choice(["NONE", "FULL_TRANSITIVE"])), properties=ask.properties()
    )
    against = Config(level=word) if ask.often(0.5) else Config(exact_level=level(ask))
    setting, making = SetConfig(Scope(*subject), against), Register(subject, ask.draft(), create_with=creation)
    return [
        DeleteSubject(subject),
        DeleteSubject(subject, permanent=True),
        *ask.chance.sample([setting, making], 2),
        GetConfig(Scope(*subject)),
        Register(subject, ask.draft()),
        Register(subject, ask.draft(), create_with=creation),
    ]


def show_again(ask: Asker) -> list[Request[Any]]:
    """Set a level that has no word, then the words by which it may be shown: only the one that is shown changes nothing."""
    scope = Scope(*ask.subject()) if ask.often(0.8) else Scope()
    asked: list[Request[Any]] = [SetConfig(scope, Config(exact_level=level(ask))), GetConfig(scope)]
    for word in ask.chance.sample(list(LEVELS), 3):
        asked += [SetConfig(scope, Config(level=word)), GetConfig(scope, resolve=True)]
    return asked


def compare_unalike(ask: Asker) -> list[Request[Any]]:
    """Register what fits some versions one way and others the other, while ranges of both directions differ."""
    subject = ask.subject()
    drafts = [
        Draft(text, "TOY") for text in ask.chance.sample(['["a"]', '["a", "b?"]', '["a", "b"]', '["b?", "a"]'], 3)
    ]
    first, second = level(ask), level(ask)
    return [
        DeleteSubject(subject),
        DeleteSubject(subject, permanent=True),
        SetConfig(Scope(*subject), Config(level="NONE")),
        *(Register(subject, draft) for draft in drafts),
        SetConfig(Scope(*subject), Config(exact_level=first)),
        *(Check(subject, draft) for draft in drafts),
        Register(subject, Draft('["a", "d?"]', "TOY")),
        SetConfig(Scope(*subject), Config(exact_level=second)),
        Register(subject, ask.draft()),
    ]


def make_anew(ask: Asker) -> list[Request[Any]]:
    """Have several versions, of several types, with names; remove the subject, and make it again: nothing of it is left."""
    subject, word = ask.subject(), ask.chance.choice("ab")
    texts = [*ask.chance.sample(['["a"]', '["b"]', '["a", "b?"]'], 2)]
    first, second = (Draft(text, "TOY") for text in texts)
    record = ask.record()
    return [
        SetConfig(Scope(*subject), Config(level="NONE")),
        Register(subject, first, names=(("scheme", word),)),
        Register(subject, record),
        Register(subject, second),
        DeleteSubject(subject),
        DeleteSubject(subject, permanent=True),
        Register(subject, ask.chance.choice([first, second]), names=(("scheme", word),)),
        Register(subject, record, names=(("scheme", ask.chance.choice("ab")),)),
        GetVersion(subject, -1),
        ListVersions(subject, "all"),
    ]


def tag_references(ask: Asker) -> list[Request[Any]]:
    """Register a schema that refers to another one, with tags of its own, and change those."""
    text, kind, name = OUTER
    subject, target = Subject(".", "t"), Subject(".", "s")
    draft = Draft(text, kind, (Reference(name, target.name, ask.chance.choice([-1, 1])),))
    return [
        Register(target, ask.record()),
        Register(subject, draft, add_tags=TAGGED["outer"]),
        Derive(subject, -1, remove_tags=TAGGED["outer"]),
        Register(subject, draft, propagate_tags=True),
        DeleteVersion(target, -1),
        GetVersion(subject, -1, find_tags=("*",)),
    ]


def refer_and_delete(ask: Asker) -> list[Request[Any]]:
    """Refer to a version, delete both softly, and ask for what a softly deleted referrer stands in the way of."""
    text, kind, name = OUTER
    target, subject = Subject(".", "s"), Subject(".", "t")
    record, draft = ask.record(), Draft(text, kind, (Reference(name, "s", -1),))
    last: list[Request[Any]] = [
        DeleteSubject(target, permanent=True),
        DeleteVersion(target, 1, permanent=True),
        Register(target, record),
        ListVersions(target, "all"),
    ]
    return [
        *(purge(ask)[:2] if ask.often(0.5) else []),
        Register(target, record),
        Register(subject, draft),
        DeleteSubject(target),
        DeleteSubject(subject),
        DeleteSubject(target),
        *ask.chance.sample(last, len(last)),
    ]


def compare_far_back(ask: Asker) -> list[Request[Any]]:
    """Set a transitive level or a group, then register what fits only some of the versions."""
    subject, transitive = ask.subject(), ask.often(0.7)
    level = ask.chance.choice(["BACKWARD_TRANSITIVE", "FULL_TRANSITIVE", "FORWARD_TRANSITIVE"])
    config = Config(level=level) if transitive else Config(level="BACKWARD", group="major")
    texts = ask.chance.choice([('["a"]', '["a", "b?"]', '["a", "b"]'), ('["a", "b"]', '["a", "b?"]', '["a"]')])
    majors = [Metadata(properties=(("major", one),)) for one in ("1", ask.chance.choice("12"), ask.chance.choice("12"))]
    drafts = [Draft(text, "TOY", metadata=major) for text, major in zip(texts, majors, strict=True)]
    return [
        DeleteSubject(subject),
        DeleteSubject(subject, permanent=True),
        SetConfig(Scope(*subject), config),
        *(Register(subject, draft) for draft in drafts),
        Check(subject, drafts[2]),
    ]


def stack_settings(ask: Asker) -> list[Request[Any]]:
    """Set config and mode at several scopes of one subject, and do what depends on which of them counts."""
    subject, levels = ask.chance.choice([ask.subject(), Subject(".x", "s")]), list(LEVELS)
    scopes = [Scope(*subject), Scope(subject.context), Scope(), Scope("*")]
    chosen = ask.chance.sample(scopes, 2)
    closed = ask.chance.choice(scopes[1:])
    first, second = ask.chance.sample([Config(level=level) for level in levels], 2)
    gap = ask.chance.choice([Config(normalize=True), Config(group="major"), second])
    return [
        SetConfig(chosen[0], first),
        SetConfig(chosen[1], gap),
        GetConfig(scopes[0], resolve=True),
        Register(subject, ask.draft()),
        Register(subject, ask.draft()),
        SetMode(closed, ask.chance.choice(["READONLY", "READONLY_OVERRIDE"])),
        *ask.chance.sample(
            [Register(subject, ask.draft()), DeleteSubject(subject), GetMode(scopes[0], resolve=True)], 2
        ),
        SetMode(closed, None),
        *(DeleteConfig(one) for one in chosen),
    ]


def hide_versions(ask: Asker) -> list[Request[Any]]:
    """Register the same schema again and again after its version was deleted: the ones before are hidden."""
    subject, draft = ask.subject(), ask.draft()
    again: list[Request[Any]] = [DeleteVersion(subject, -1), Register(subject, draft)]
    return [Register(subject, draft), *again * 4, ListVersions(subject, "all")]


ERRANDS: Mapping[str, tuple[float, Errand]] = {
    "purges": (8, purge),
    "renames": (2, rename),
    "versions replaced": (2, replace_version),
    "contexts renewed": (2, renew_context),
    "aliases turned": (2, turn_alias),
    "created with": (2, create_with),
    "shown again": (2, show_again),
    "compared unalike": (2, compare_unalike),
    "made anew": (2, make_anew),
    "references tagged": (2, tag_references),
    "referrers deleted": (2, refer_and_delete),
    "compared far back": (2, compare_far_back),
    "settings stacked": (2, stack_settings),
    "versions hidden": (1, hide_versions),
    **OF_GROUPS,
    **OF_LABELS,
    **OF_IMPORTS,
}
"""Errands by what is counted: how often, and what is asked."""


def errand(ask: Asker) -> tuple[str, list[Request[Any]]]:
    """Choose an errand: its name, and its requests."""
    (name,) = ask.chance.choices(list(ERRANDS), [often for often, _ in ERRANDS.values()])
    return name, ERRANDS[name][1](ask)
