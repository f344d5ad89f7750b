"""What happened in a registry before a test, as requests: versions that were purged or are hidden, imports over gaps, and the rest.

`NEIGHBOURS` happen in a context of their own; the subjects there stay. `FORMER` happen in the subject that a test is about:
no version of theirs is live afterwards, but ordinals and numbers have been assigned. No request is refused where the
context was empty and the subject is a group, or is not there.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.worlds.drafts import Drafts, described, printed_alike, referring, toys
from treaty.core.messages import transfers as x
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.groups import CreateSubject, GroupSettings, RemoveSubject
from treaty.core.messages.policies import CreatePolicy
from treaty.core.messages.registration import Derive, ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import DeletePublished, Publish, PutDraft
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.policy import ForcedRegistration, VersionRange
from treaty.core.schema import Draft
from treaty.core.state.values import PolicyValue

Requests = list[Request[Any]]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a history happens, with which drafts, and what is left to chance."""

    subject: Subject
    """Of a history of neighbours: its context alone counts, and the name begins all names."""
    dice: random.Random
    drafts: Drafts = toys
    pool: tuple[Subject, ...] = ()
    """Subjects that others use, too: one of them in the place of each name."""

    def named(self, name: str) -> Subject:
        """A subject of this context, or one of the pool."""
        if self.pool:
            return self.dice.choice(self.pool)
        return Subject(self.subject.context, f"{self.subject.name}{name}")

    def versions(self, count: int) -> list[Draft]:
        """So many schemas, each of which reads what those before it wrote."""
        return [self.drafts("a", *(f"f{number}?" for number in range(have))) for have in range(count)]


def purge(subject: Subject, number: int, *, force: bool = False) -> Requests:
    """Delete a version for good."""
    return [DeleteVersion(subject, number), DeleteVersion(subject, number, permanent=True, force=force)]


def importing(subject: Subject, *requests: Request[Any]) -> Requests:
    """Ask in mode IMPORT, and set the mode of the subject back."""
    return [SetMode(Scope(*subject), "IMPORT", force=True), *requests, SetMode(Scope(*subject), None)]


# ------------------------------------------------------------------------------------------------------- neighbours


def purge_newest(at: Setting) -> Requests:
    """Three versions of which the newest is deleted for good, so that the number of the next one is not its ordinal + 1."""
    subject, drafts = at.named("purged"), at.versions(5)
    made: Requests = [Register(subject, one) for one in drafts[:3]]
    return [*made, *purge(subject, 3), *(Register(subject, one) for one in drafts[3:]), *purge(subject, 1)]


def hide_versions(at: Setting) -> Requests:
    """A schema that was deleted and registered again, twice: its former versions are hidden."""
    subject, (first, second) = at.named("hidden"), at.versions(2)
    again: Requests = [DeleteVersion(subject, -1), Register(subject, first)]
    return [Register(subject, first), *again, *again, Register(subject, second)]


def import_over_gaps(at: Setting) -> Requests:
    """Versions with the numbers 7, 3 and 12 and ids far from each other, imported in this order, and one after them."""
    subject, drafts = at.named("imported"), at.versions(5)
    numbers, ids = (7, 3, 12), at.dice.sample(range(30, 90), 3)
    imports = [
        Register(subject, described(draft, "1"), number=number, schema_id=chosen)
        for draft, number, chosen in zip(drafts, numbers, ids, strict=False)
    ]
    return [*importing(subject, *imports), Register(subject, drafts[3])]


def import_group(at: Setting) -> Requests:
    """A group with ordinals 1, 4 and 6 in all states, codecs, and encoding ids behind a gap."""
    subject, drafts = at.named("group"), at.versions(4)
    settings = GroupSettings("pravega", policy=Config(level="NONE"))
    states: tuple[x.KeptState, ...] = ("hidden", "soft", "live")
    imports = [
        x.ImportVersion(
            subject, draft, ordinal, ordinal + 2, state=state, type_version=ordinal, properties=(("team", "a"),),
            forced=ForcedRegistration("ann", "moved") if state == "soft" else None,
        )
        for draft, ordinal, state in zip(drafts, (1, 4, 6), states, strict=False)
    ]  # fmt: skip
    gzip = AddCodec(subject, CodecType("gzip", (("level", "6"),)))
    encoded = [
        x.ImportEncoding(subject, 9, 6, "gzip"),
        x.ImportEncoding(subject, 5, 1),
        x.ImportEncoding(subject, 7, 4),
    ]
    return [
        CreateSubject(subject, settings),
        gzip,
        *importing(subject, *imports, *encoded),
        Register(subject, drafts[3], require_subject=True),
        AssignEncoding(subject, 7, "gzip"),
        AssignEncoding(subject, 6),
        AssignEncoding(subject, 7),
    ]


def share_a_text(at: Setting) -> Requests:
    """Two formats that print the same text, and several types, in a group that compares within a type."""
    subject, (first, second) = at.named("types"), at.versions(2)
    drafts = [first, printed_alike(first), printed_alike(second), second, replace(printed_alike(first), type_name="T")]
    drafts += [replace(first, type_name="T")] if first.format == "TOY" else []
    at.dice.shuffle(drafts)
    return [
        CreateSubject(subject, GroupSettings("pravega", types="many", policy=Config(level="NONE"), identity="exact")),
        *(Register(subject, one, require_subject=True) for one in drafts),
    ]


def refer_across(at: Setting) -> Requests:
    """References to a version whose number is not its ordinal + 1: in the context, from another one, to a chain of them."""
    subject, drafts = at.named("used"), at.versions(3)
    away = Subject(f"{at.subject.context}far", at.subject.name + "user")
    across = f":{subject.context}:{subject.name}"
    middle = at.named("user")
    return [
        *(Register(subject, one) for one in drafts[:2]),
        *purge(subject, 2),
        Register(subject, drafts[2]),
        Register(middle, referring(drafts[0], subject.name, 2)),
        Register(away, referring(drafts[0], across, 2)),
        Register(away, referring(drafts[1], across, 1), force=ForceReason("ann", "another part")),
        DeleteVersion(away, -1),
    ]


def follow_policies(at: Setting) -> Requests:
    """A named policy that a config follows, and one that another config has among its validators."""
    name, (first, second) = f"policy{at.subject.context.strip('.')}", at.versions(2)
    subject, other = at.named("follower"), at.named("strict")
    return [
        CreatePolicy(name, PolicyValue(VersionRange("latest"), partition="property:major")),
        CreatePolicy(f"{name}-all", PolicyValue(VersionRange("all"))),
        SetConfig(Scope(*subject), Config(follows=name)),
        SetConfig(Scope(*other), Config(level="NONE", validators=(f"policy:{name}-all",))),
        *(Register(subject, described(one, "1")) for one in (first, second)),
        Register(other, described(first, "2")),
    ]


def label_versions(at: Setting) -> Requests:
    """Three versions with labels, of which one supersedes another, one was patched, and one was deleted after superseding."""
    name, drafts = Subject(".", f"{_vendor(at)}/labels/toy"), at.versions(4)
    return [
        Publish(name, "1-0-0", described(drafts[0], "1")),
        Publish(name, "1-0-1", drafts[1], supersedes=("1-0-0",)),
        Publish(name, "1-0-2", described(drafts[2], "2"), supersedes=("1-0-1",)),
        Publish(name, "1-0-0", described(drafts[1], "3"), patch=True),
        DeletePublished(name, "1-0-2"),
        Publish(name, "1-0-2", drafts[3]),
        PutDraft(Subject(".", f"{_vendor(at)}/draft/toy"), 1, "{}"),
    ]


def _vendor(at: Setting) -> str:
    return f"v{at.subject.context.strip('.')}{at.subject.name}"


def keep_private(at: Setting) -> Requests:
    """A private subject that refers to a public one, and one that was removed with its encodings."""
    public, private, gone = at.named("public"), at.named("private"), at.named("removed")
    (first,) = at.versions(1)
    secret = SubjectCreation(private=True)
    return [
        Register(public, first),
        Register(private, referring(first, public.name, 1), create_with=secret),
        Register(gone, first, create_with=secret),
        AssignEncoding(gone, 0),
        RemoveSubject(gone) if at.dice.random() < 0.5 else DeleteSubject(gone),
    ]


def vary_extras(at: Setting) -> Requests:
    """One text under several metadata and rules: by a draft, by defaults of a config, by a derived version, by a topic."""
    subject, (first, second) = at.named("extras"), at.versions(2)
    given = described(first, "1")
    topic = at.named("topic")
    schema = Register(topic, described(second, "2"))
    wish = AssociationSpec("value", topic, "STRONG", schema=schema)
    return [
        SetConfig(Scope(*subject), Config(default_metadata=given.metadata, override_rules=described(first, "2").rules)),
        *(Register(subject, one) for one in (first, given, second)),
        Derive(subject, -1, metadata=described(second, "2").metadata),
        Associate(Resource(str(topic), "ns", f"id-{topic}"), (wish,)),
    ]


def renew_context(at: Setting) -> Requests:
    """A context whose ids begin far up."""
    away = Subject(f"{at.subject.context}ids", f"{at.subject.name}far")
    scope, (first, second) = Scope(away.context), at.versions(2)
    return [
        SetMode(scope, "IMPORT"),
        MakeContext(away.context, at.dice.randint(5, 500)),
        SetMode(scope, "READWRITE"),
        *(Register(away, one) for one in (first, second)),
        *purge(away, 2),
    ]


NEIGHBOURS: Mapping[str, Callable[[Setting], Requests]] = {
    "purged": purge_newest,
    "hidden": hide_versions,
    "imported": import_over_gaps,
    "groups": import_group,
    "one text in two formats": share_a_text,
    "references": refer_across,
    "policies": follow_policies,
    "labels": label_versions,
    "private": keep_private,
    "extras": vary_extras,
    "contexts": renew_context,
}
"""Histories of other subjects."""
ELSEWHERE = tuple(name for name in NEIGHBOURS if name not in {"labels", "policies"})
"""Those that touch nothing but contexts of their own: names of policies are everywhere, labels in the default context."""


# ----------------------------------------------------------------------------------------------- of the subject itself


def deleted_before(at: Setting) -> Requests:
    """A version that is deleted and not purged."""
    (first,) = at.versions(1)
    return [Register(at.subject, first), DeleteVersion(at.subject, -1)]


def purged_before(at: Setting) -> Requests:
    """Versions 2 and 3 are purged, so that version 2 gets the ordinal 3."""
    drafts = at.versions(3)
    return [
        *(Register(at.subject, one) for one in drafts),
        *purge(at.subject, 3),
        *purge(at.subject, 2),
        DeleteVersion(at.subject, 1),
    ]


def hidden_before(at: Setting) -> Requests:
    """A version that is hidden by a later one of its schema, which is deleted, too."""
    (first,) = at.versions(1)
    return [*deleted_before(at), Register(at.subject, first), DeleteVersion(at.subject, -1)]


def imported_before(at: Setting) -> Requests:
    """Versions with the numbers 6 and 3, both deleted: the next one has the number 7 and the ordinal 2."""
    imports = [
        Register(at.subject, one, number=number, schema_id=100 + number)
        for one, number in zip(at.versions(2), (6, 3), strict=True)
    ]
    return [*importing(at.subject, *imports), DeleteSubject(at.subject)]


FORMER: Mapping[str, Callable[[Setting], Requests]] = {
    "nothing": lambda _: [],
    "deleted": deleted_before,
    "purged": purged_before,
    "hidden": hidden_before,
    "imported": imported_before,
}
"""Histories of the subject that a test is about."""
