"""What clients ask of subjects as groups: generators for each kind of request, and requests that belong together."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.simulation.asker import Asker, level
from tests.simulation.texts import AVRO
from treaty.core.messages import groups as grouped
from treaty.core.messages import policies as kept
from treaty.core.messages.compatibility import Check
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType, GetEncoding, ListCodecs
from treaty.core.messages.names import GetNamedVersion
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.policy import LEVELS, Level
from treaty.core.schema import Draft, Pairs
from treaty.core.state.values import PolicyValue

TYPES = ("across", "one", "many")
IDENTITIES = ("canonical", "normalised", "exact")
SPELLED = ('["a","b?"]', '["a", "b?"]', '["b?", "a"]', '["b?","a"]')
"""Two texts, each in two spellings, with the same normal form."""


def policy(ask: Asker) -> Config | None:
    """None, one by a word, one that is nowhere, one that has no word, one with more than a policy."""
    words = [Config(level=word) for word in ("FULL_TRANSITIVE", "NONE", "NONE", "BACKWARD", "NOWHERE")]
    exact = Config(exact_level=level(ask), group=ask.chance.choice([None, "major"]))
    if ask.often(0.15):
        return Config(follows=policy_name(ask), level=ask.chance.choice([None, None, "FULL"]))
    return ask.chance.choice([None, *words, exact, Config(level="FULL", alias="t"), Config(partition="type")])


NAMED = ("gold", "iron")
"""Names of policies that are created and deleted again and again."""
VALIDATORS = (
    "NAME_SHORT", "required-metadata(major)", "no-removed-fields", "repo.reject", "policy:BACKWARD", "policy:FULL_TRANSITIVE",
    "policy:BackwardTill(1)", "policy:DenyAll",
)  # fmt: skip


def validators(ask: Asker) -> tuple[str, ...]:
    """Mostly those that can be; at times one that nobody has, or that can't be so, or that compares by a named policy."""
    if ask.often(0.2):
        return (
            ask.chance.choice(
                ["nobody", "required-metadata", "max(", "policy:gold", "policy:lead", "policy:BackwardTill"]
            ),
        )
    return tuple(ask.chance.sample(VALIDATORS[:3] if ask.often(0.5) else VALIDATORS, ask.chance.choice([0, 1, 1, 2])))


def policy_name(ask: Asker) -> str:
    """At times one that can't be."""
    return ask.chance.choice(NAMED if ask.often(0.9) else ["", "a b", "Full", "deny_all", "lead"])


def policy_value(ask: Asker) -> PolicyValue:
    """Mostly a level with a word, so that what is compared differs; at times one that can't be, or that has validators."""
    chosen = level(ask) if ask.often(0.3) else ask.chance.choice(list(LEVELS.values()))
    return PolicyValue(
        chosen.backward,
        chosen.forward,
        chosen.deny,
        ask.chance.choice(["", "", "", "property:major", "type", "property:"]),
        ask.chance.choice(["", "STRICT", "LENIENT", "STRICTLY"] if ask.often(0.2) else [""]),
        validators(ask) if ask.often(0.2) else (),
    )


def change_policy(ask: Asker) -> Request[Any]:
    return kept.ChangePolicy(policy_name(ask), policy_value(ask), policy_value(ask) if ask.often(0.1) else None)


def properties(ask: Asker) -> Pairs:
    """Mostly right ones; at times a format, or a name that is the registry's own."""
    if ask.often(0.15):
        return ((grouped.FORMAT, ask.chance.choice(["AVRO", "TOY", "any", "avro", "", "A B"])),)
    return (("treaty.x", "1"),) if ask.often(0.05) else ask.properties()


def schemes(ask: Asker) -> tuple[str, ...]:
    """None, one that counts, some that are computed; at times one that nobody has, or one twice."""
    if ask.often(0.6):
        return ()
    known = ["sequence", "md5", "crc-64-avro", "sha-256"]
    return tuple(ask.chance.sample([*known, "md5", "nobody's"] if ask.often(0.1) else known, ask.chance.randint(1, 3)))


def settings(ask: Asker) -> grouped.GroupSettings:
    return grouped.GroupSettings(
        ask.chance.choice(["pravega", "pravega", "schema-repo", "confluent", ""] if ask.often(0.2) else ["pravega"]),
        ask.chance.choice([*TYPES, "several"] if ask.often(0.2) else TYPES),
        "random" if ask.often(0.03) else "registration",
        ask.chance.choice([*IDENTITIES, "none"] if ask.often(0.2) else IDENTITIES),
        policy(ask),
        properties(ask),
        schemes(ask),
    )


def creation(ask: Asker) -> SubjectCreation:
    """How a subject is made by a registration: mostly with a policy and properties alone, at times with other settings too."""
    made = settings(ask)
    if ask.often(0.4):
        return SubjectCreation(
            made.origin, made.types, made.order, made.identity, made.policy, made.properties, made.schemes
        )
    return SubjectCreation(policy=made.policy, properties=ask.properties(), schemes=schemes(ask))


def known_level(ask: Asker) -> Level:
    """Often the level that a subject has in the beginning."""
    return ask.chance.choice([LEVELS["BACKWARD"], LEVELS["BACKWARD"], LEVELS["NONE"], level(ask)])


def change_subject(ask: Asker) -> Request[Any]:
    return grouped.ChangeSubject(
        ask.subject(),
        ask.chance.choice([None, known_level(ask), level(ask)]),
        known_level(ask) if ask.often(0.5) else None,
        validators(ask) if ask.often(0.15) else None,
        properties(ask) if ask.often(0.3) else None,
        ask.chance.choice(["warn", "refuse", "shout"]) if ask.often(0.1) else None,
        policy_name(ask) if ask.often(0.15) else None,
    )


def ordinal(ask: Asker) -> int:
    """Mostly one of the first ones, which are there more often than others."""
    return ask.chance.choice([0, 0, 1, 1, 2, 3, 4, 5, -1])


def typed(ask: Asker) -> Request[Any]:
    kind = ask.chance.choice(["TOY", "AVRO", "AVRO", "THRIFT"])
    return grouped.GetTypedVersion(ask.subject(), kind, ask.type_name(), ask.chance.choice([0, 0, 1, 2]))


NAMES = (("imported", "a"), ("imported", "b"), ("other", "a"))
"""Names that registrations give."""


def md5(text: str) -> str:
    """The name of a text by LinkedIn's scheme."""
    return hashlib.md5("".join(text.split()).encode(), usedforsecurity=False).hexdigest()


def named(ask: Asker) -> Request[Any]:
    """By a number, by a name that was given, by the MD5 of a text that may be there."""
    scheme, name = ask.chance.choice(
        [("sequence", "1"), ("", "2"), ("sequence", "01"), ("md5", md5(ask.chance.choice(SPELLED))), *NAMES]
    )
    return GetNamedVersion(ask.subject(), name, scheme)


def draft(ask: Asker) -> Draft:
    return ask.grouped(ask.draft()) if ask.often(0.4) else ask.draft()


def check_by_level(ask: Asker) -> Request[Any]:
    """Mostly by the subject's level, at times by one of the check's own; a version and a level at once can't be."""
    version = ask.chance.choice([None, -1, 1, 2])
    if ask.often(0.7):
        return Check(ask.subject(), ask.draft(), version)
    return Check(ask.subject(), ask.draft(), version if ask.often(0.1) else None, level=level(ask))


GENERATORS: Mapping[type, tuple[float, Callable[[Asker], Any]]] = {
    Check: (4, check_by_level),
    grouped.CreateSubject: (4, lambda a: grouped.CreateSubject(a.subject(), settings(a))),
    grouped.ChangeSubject: (4, change_subject),
    kept.CreatePolicy: (3, lambda a: kept.CreatePolicy(policy_name(a), policy_value(a))),
    kept.ChangePolicy: (2, change_policy),
    kept.DeletePolicy: (1, lambda a: kept.DeletePolicy(policy_name(a))),
    kept.GetPolicy: (1, lambda a: kept.GetPolicy(policy_name(a))),
    kept.ListPolicies: (1, lambda a: kept.ListPolicies(a.chance.choice(["", "", "gold"]), a.chance.randint(0, 3))),
    grouped.RemoveSubject: (1.5, lambda a: grouped.RemoveSubject(a.subject())),
    grouped.DeleteOrdinal: (3, lambda a: grouped.DeleteOrdinal(a.subject(), ordinal(a))),
    grouped.GetSubject: (2, lambda a: grouped.GetSubject(a.subject())),
    grouped.ListGroups: (
        1,
        lambda a: grouped.ListGroups(
            a.chance.choice([".", ".", ".x"]), a.chance.choice(["", "", "a", "s"]), a.chance.randint(0, 4)
        ),
    ),
    grouped.GetOrdinal: (2, lambda a: grouped.GetOrdinal(a.subject(), ordinal(a))),
    grouped.GetTypedVersion: (1, typed),
    GetNamedVersion: (2, named),
    grouped.ListGroupVersions: (
        1,
        lambda a: grouped.ListGroupVersions(a.subject(), a.type_name() if a.often(0.4) else "", a.often(0.4)),
    ),
    grouped.GetHistory: (1, lambda a: grouped.GetHistory(a.subject())),
    grouped.FindSameVersion: (2, lambda a: grouped.FindSameVersion(a.subject(), draft(a))),
    grouped.FindSameSchema: (1, lambda a: grouped.FindSameSchema(a.chance.choice([".", ".", ".x"]), draft(a))),
    grouped.CheckReading: (2, lambda a: grouped.CheckReading(a.subject(), draft(a))),
}
"""Kinds of requests of groups: how often, and what."""


# -------------------------------------------------------------------------------------------------------- errands


def good_settings(ask: Asker) -> grouped.GroupSettings:
    """Settings that can be, with a policy that takes most."""
    chosen = ask.chance.choice(["NONE", "NONE", "BACKWARD"])
    return grouped.GroupSettings(
        "pravega",
        ask.chance.choice(TYPES),
        identity=ask.chance.choice(IDENTITIES),
        policy=Config(level=chosen),
        schemes=schemes(ask) if ask.often(0.3) else (),
    )


def make_group_anew(ask: Asker) -> list[Request[Any]]:
    """Have codecs, encodings and a policy in a group, remove it, and make it again: nothing of it is left but used up ids."""
    subject, first = ask.subject(), Draft(SPELLED[0], "TOY")
    gzip = AddCodec(subject, CodecType("gzip", (("level", ask.chance.choice("12")),)))
    return [
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, good_settings(ask)),
        gzip,
        Register(subject, first),
        AssignEncoding(subject, 0, "gzip"),
        AssignEncoding(subject, 0),
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, good_settings(ask)),
        Register(subject, ask.chance.choice([first, Draft(SPELLED[2], "TOY")])),
        *ask.chance.sample([GetEncoding(subject, 0), GetEncoding(subject, 1), ListCodecs(subject)], 2),
        AssignEncoding(subject, 0, ask.chance.choice(["", "gzip"])),
        grouped.GetSubject(subject),
        GetEncoding(subject, 2),
    ]


def spell(ask: Asker) -> list[Request[Any]]:
    """Register spellings of one schema, delete some and add them again: the identity says which are the same."""
    subject = ask.subject()
    texts = [Draft(ask.chance.choice(SPELLED), "TOY") for _ in range(4)]
    return [
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, good_settings(ask)),
        *(Register(subject, text) for text in texts),
        grouped.FindSameVersion(subject, ask.chance.choice(texts)),
        grouped.DeleteOrdinal(subject, ask.chance.choice([0, 1, 2])),
        *(Register(subject, text) for text in texts[:2]),
        grouped.ListGroupVersions(subject),
        Lookup(subject, texts[1]),
        grouped.FindSameSchema(subject.context, texts[2]),
        GetVersion(subject, -1),
    ]


def name_versions(ask: Asker) -> list[Request[Any]]:
    """Register spellings that share names, with names that are given, delete some and ask for all by their names."""
    subject, identity = ask.subject(), ask.chance.choice(["exact", "exact", "canonical"])
    chosen = ("md5", *ask.chance.sample(["sequence", "sha-256", "crc-64-avro"], 2))
    made = grouped.GroupSettings("avro-1124", identity=identity, policy=Config(level="NONE"), schemes=chosen)
    texts = [Draft(ask.chance.choice(SPELLED), "TOY") for _ in range(4)] + [ask.record()]
    give = [Register(subject, one, names=(ask.chance.choice(NAMES),) if ask.often(0.5) else ()) for one in texts]
    found = [GetNamedVersion(subject, md5(one), "md5") for one in SPELLED[::2]]
    found += [GetNamedVersion(subject, name, scheme) for scheme, name in (*NAMES, ("sequence", "1"))]
    return [
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, made),
        *give,
        *ask.chance.sample(found, 3),
        grouped.DeleteOrdinal(subject, ask.chance.choice([0, 1])),
        *ask.chance.sample(give, 3),
        DeleteVersion(subject, ask.chance.choice([1, 2]), permanent=True),
        *ask.chance.sample(found, 3),
        grouped.ListGroupVersions(subject),
    ]


def add_types(ask: Asker) -> list[Request[Any]]:
    """Register texts under types, that of the text or a label, compared within their type or across."""
    subject = ask.subject()
    drafts = [replace(Draft(text, "TOY"), type_name=ask.chance.choice(["", "T", "U"])) for text in SPELLED[1:3]]
    for format_ in ("AVRO", "AVRO", grouped.ANY_FORMAT):
        drafts.append(Draft(ask.chance.choice(AVRO[:9]), format_, type_name=ask.chance.choice(["", "R", "E"])))
    ask.chance.shuffle(drafts)
    return [
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, good_settings(ask)),
        *(Register(subject, draft, require_subject=True) for draft in drafts),
        *(Register(subject, replace(draft, type_name=ask.chance.choice(["", "T"]))) for draft in drafts[:2]),
        Check(subject, ask.chance.choice(drafts)),
        grouped.GetTypedVersion(subject, "AVRO", "R", ask.chance.choice([0, 1])),
        grouped.GetTypedVersion(subject, "TOY", "T", 0),
        grouped.ListGroupVersions(subject, ask.chance.choice(["", "T", "R"]), latest=ask.often(0.5)),
        grouped.CheckReading(subject, ask.chance.choice(drafts)),
        grouped.GetHistory(subject),
    ]


def race_for_level(ask: Asker) -> list[Request[Any]]:
    """Change a level twice from the same one: one of both is refused, and what is registered between passes what is in force."""
    subject = ask.subject()
    first, second = known_level(ask), known_level(ask)
    begin = known_level(ask)
    return [
        SetConfig(Scope(*subject), Config(exact_level=begin)),
        grouped.ChangeSubject(subject, first, begin),
        Register(subject, ask.draft()),
        grouped.ChangeSubject(subject, second, begin),
        Register(subject, ask.draft()),
        grouped.ChangeSubject(subject, begin, ask.chance.choice([first, second])),
        grouped.GetSubject(subject),
    ]


def purge_encoded(ask: Asker) -> list[Request[Any]]:
    """Give a deleted group's and a Confluent subject's payloads ids, and try to take their versions away."""
    subject: Subject = ask.subject()
    return [
        Register(subject, ask.record()),
        AssignEncoding(subject, ask.chance.choice([0, 1])),
        grouped.DeleteOrdinal(subject, 0),
        AssignEncoding(subject, 0),
        GetEncoding(subject, 0),
        grouped.GetOrdinal(subject, 0),
        Register(subject, ask.record()),
        grouped.RemoveSubject(subject) if ask.often(0.3) else grouped.GetHistory(subject),
        GetEncoding(subject, 0),
    ]


def read_far_back(ask: Asker) -> list[Request[Any]]:
    """Let readers read what older versions wrote: a reader of the latest one alone is told so."""
    subject, chosen = ask.subject(), ask.chance.choice([LEVELS["BACKWARD_TRANSITIVE"], LEVELS["FULL"], level(ask)])
    drafts = [Draft(text, "TOY") for text in ('["a"]', '["a", "b"]', '["b"]')]
    return [
        grouped.RemoveSubject(subject),
        grouped.CreateSubject(subject, replace(good_settings(ask), policy=Config(level="NONE"))),
        *(Register(subject, one) for one in drafts[:2]),
        grouped.ChangeSubject(subject, chosen),
        *(grouped.CheckReading(subject, one) for one in drafts),
        grouped.DeleteOrdinal(subject, 1),
        *(grouped.CheckReading(subject, one) for one in drafts[1:]),
    ]


def follow_policy(ask: Asker) -> list[Request[Any]]:
    """Have a subject follow a policy, change the policy, and give the subject another one."""
    subject, name = ask.subject(), ask.chance.choice(NAMED)
    values = [PolicyValue(one.backward, one.forward) for one in (LEVELS["NONE"], known_level(ask), LEVELS["FULL"])]
    checked = replace(ask.chance.choice(values), validators=(ask.chance.choice(VALIDATORS[:6]),))
    drafts = [ask.draft() for _ in "1234"]
    return [
        kept.DeletePolicy(name),
        kept.CreatePolicy(name, values[0]),
        ask.chance.choice(
            [SetConfig(Scope(*subject), Config(follows=name)), grouped.ChangeSubject(subject, follows=name)]
        ),
        Register(subject, drafts[0]),
        kept.ChangePolicy(name, ask.chance.choice([values[1], values[2], checked]), values[0]),
        Register(subject, drafts[1]),
        kept.DeletePolicy(name),
        Check(subject, drafts[2]),
        ask.chance.choice(
            [
                SetConfig(Scope(*subject), Config(level=ask.chance.choice(list(LEVELS)))),
                SetConfig(Scope(*subject), Config(validators=(f"policy:{name}",))),
                SetConfig(Scope(*subject), Config(), ("follows",)),
                grouped.ChangeSubject(subject, validators=validators(ask)),
            ]
        ),
        kept.ChangePolicy(name, policy_value(ask)),
        Register(subject, drafts[3]),
        grouped.GetSubject(subject),
        kept.DeletePolicy(name),
    ]


ERRANDS: Mapping[str, tuple[float, Callable[[Asker], list[Request[Any]]]]] = {
    "groups made anew": (2, make_group_anew),
    "spellings": (2, spell),
    "types added": (2, add_types),
    "versions named": (2, name_versions),
    "levels raced for": (2, race_for_level),
    "encoded versions deleted": (2, purge_encoded),
    "read far back": (2, read_far_back),
    "policies followed": (2, follow_policy),
}
"""Errands by what is counted: how often, and what is asked."""
