"""What clients ask for: a table of generators, one for each kind of request, over a few subjects so that all collides."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tests.simulation.asker import MOST_IDS, SUBJECTS, TAGGED, Asker, level
from tests.simulation.clients.callers import PRINCIPALS
from tests.simulation.group_workload import GENERATORS as OF_GROUPS
from tests.simulation.group_workload import creation
from tests.simulation.import_workload import GENERATORS as OF_IMPORTS
from tests.simulation.label_workload import GENERATORS as OF_LABELS
from tests.simulation.runner_workload import GENERATORS as OF_SOURCES
from treaty.core.messages import api_keys as keyed
from treaty.core.messages import associations as tied
from treaty.core.messages import encodings as packed
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.differences import CompareVersions, ComparisonSide
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.names import GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.search import Search
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS
from treaty.core.policy import LEVELS, Level
from treaty.core.schema import Draft, Pairs


def register(ask: Asker) -> Request[Any]:
    """Mostly the plain form; at times one of the conditions that a register command can carry."""
    expected = ExpectedVersion(ask.chance.choice(("number", "ordinal", "schema_id")), ask.chance.choice([-1, 0, 1, 2]))
    return Register(
        ask.subject(),
        ask.draft(),
        ask.normalize(),
        number=ask.wanted_number(ask.chance.choice([1, 2, 3]) if ask.often(0.05) else 0),
        schema_id=ask.chance.randint(1, MOST_IDS) if ask.often(0.05) else -1,
        force=ForceReason("somebody", "because") if ask.often(0.05) else None,
        expected=expected if ask.often(0.1) else None,
        names=(("scheme", ask.chance.choice("ab")),) if ask.often(0.1) else (),
        properties=ask.properties() if ask.often(0.05) else (),
        create_with=creation(ask) if ask.often(0.1) else SubjectCreation(),
        add_tags=ask.tags(),
        remove_tags=ask.tags(),
        propagate_tags=ask.often(0.05),
        exact=ask.often(0.05),
        require_subject=ask.often(0.05),
    )


DIGESTS = ("0" * 64, "1" * 64, "f" * 64)


def add_keys(ask: Asker) -> Request[Any]:
    """Keys of one of two vendors, of which a caller administers one."""
    actions = [ask.chance.choice(keyed.KEY_ACTIONS) for _ in range(ask.chance.choice([1, 1, 2]))]
    made = tuple(keyed.NewApiKey(ask.chance.choice(DIGESTS), one) for one in actions)
    return keyed.AddApiKeys(ask.chance.choice(["com.acme", "org.sub.x"]), made)


def derive(ask: Asker) -> Request[Any]:
    """Other tags, and at times a number that may be right."""
    tags = TAGGED[ask.chance.choice(list(TAGGED))]
    add, remove = ask.chance.choice([(tags, ()), ((), tags), ((), ())])
    number = ask.chance.choice([2, 3, 4]) if ask.often(0.3) else 0
    return Derive(ask.subject(), ask.number(), number, add, remove)


def set_config(ask: Asker) -> Request[Any]:
    """Levels most of all, so that what is compared with what keeps changing."""
    if ask.often(0.15):
        alias = SUBJECTS[3] if ask.often(0.7) else ask.subject()
        return SetConfig(Scope(*alias), Config(alias=ask.alias()))
    if ask.often(0.25):
        word = ask.chance.choice(list(LEVELS)) if ask.often(0.2) else None
        return SetConfig(ask.scope(), Config(level=word, exact_level=level(ask)))
    if ask.often(0.75):
        return SetConfig(ask.scope(), Config(level=ask.chance.choice([*LEVELS, "SIDEWAYS"])))
    parts = [Config(group="major"), Config(group=""), Config(partition="type"), Config(policy="LENIENT"),
             Config(partition="property:"), Config(group="major", partition="type")]  # fmt: skip
    change = ask.chance.choice([Config(normalize=True), Config(validate_fields=True), *parts])
    cleared = ask.chance.choice(["level", "alias", "group", "policy"])
    scope, clears = ask.scope(), ask.often(0.3)
    completing = ask.completing()
    if completing is not None:
        return SetConfig(scope, completing)
    return SetConfig(scope, change, (cleared,) if clears else ())


def set_mode(ask: Asker) -> Request[Any]:
    """Mostly back to normal, or nothing else would ever happen."""
    mode = ask.chance.choice(["READWRITE", "READWRITE", None, None, "READONLY", "IMPORT"])
    return SetMode(ask.scope(), mode, force=ask.often(0.2))


def get_schema(ask: Asker) -> Request[Any]:
    """By id, in a context or in all, at times with the highest id or with tags."""
    subject = ask.subject() if ask.often(0.3) else None
    return GetSchema(ask.chance.randint(1, MOST_IDS), subject, ask.often(0.1), ask.sought_tags())


def get_version(ask: Asker) -> Request[Any]:
    return GetVersion(ask.subject(), ask.number(), ask.often(0.2), ask.sought_tags(), ask.often(0.1))


def get_pin(ask: Asker) -> Request[Any]:
    subject = SUBJECTS[3] if ask.often(0.4) else ask.subject()  # mostly an alias
    return GetPin(subject, ask.number(), ask.chance.randint(1, MOST_IDS) if ask.often(0.5) else -1)


def compare_versions(ask: Asker) -> Request[Any]:
    """Two sides, or a draft tried on a subject; at times neither."""
    subject = ask.subject() if ask.often(0.5) else None
    new = ComparisonSide(draft=ask.draft()) if subject is not None or ask.often(0.3) else side(ask)
    old = None if subject is not None and ask.often(0.7) else side(ask)
    return CompareVersions(new, old, subject, ask.normalize())


def side(ask: Asker) -> ComparisonSide:
    if ask.often(0.2):
        return ComparisonSide(draft=ask.draft())
    return ComparisonSide(guid=get_guid(ask)) if ask.often(0.2) else ComparisonSide(ask.subject(), ask.number())


def get_outcome(ask: Asker) -> Request[Any]:
    """Mostly of a command of one's own, at times of somebody else's with the same id."""
    command_id = ask.chance.choice(ask.command_ids) if ask.command_ids else "none"
    return GetOutcome(command_id, ask.chance.choice(["", *PRINCIPALS]) if ask.often(0.4) else None)


def get_guid(ask: Asker) -> str:
    return ask.chance.choice(ask.guids) if ask.guids and ask.often(0.9) else "0" * 32


TOPICS = ("t1", "t2")


def associations(ask: Asker) -> tied.ListAssociations:
    """Of a subject, of a topic by its name, or by its id."""
    topic = ask.chance.choice(TOPICS)
    places: tuple[tied.OfSubject | tied.OfName | tied.OfId, ...]
    places = (tied.OfSubject(ask.subject()), tied.OfName(topic), tied.OfId(f"id-{topic}"))
    return tied.ListAssociations(ask.chance.choice(places))


def wish(ask: Asker) -> tied.AssociationSpec:
    return tied.AssociationSpec(
        ask.chance.choice(tied.KINDS),
        ask.subject() if ask.often(0.9) else None,
        ask.chance.choice(("", "STRONG", "WEAK")),
        ask.chance.choice((None, None, None, False, True)),
        Register(ask.subject(), ask.draft(), ask.normalize()) if ask.often(0.3) else None,
    )


def resource(ask: Asker) -> tied.Resource:
    topic = ask.chance.choice(TOPICS)
    return tied.Resource(topic, "ns", f"id-{topic}")


def change(ask: Asker) -> tied.ResourceChange:
    steps = ask.chance.randint(1, 2)
    ops: tuple[tied.Op, ...] = ("CREATE", "UPSERT", "DELETE")
    operations = (tied.AssociationChange(ask.chance.choice(ops), wish(ask), ask.often(0.3)) for _ in range(steps))
    return tied.ResourceChange(resource(ask), tuple(operations))


def codec(ask: Asker) -> packed.CodecType:
    """Mostly with the properties that it always has."""
    other = (("level", ask.chance.choice("12")),) if ask.often(0.1) else ()
    return packed.CodecType(ask.codec_name(), other)


def assign_encoding(ask: Asker) -> Request[Any]:
    """Mostly to one of the first versions, which are there more often than others."""
    return packed.AssignEncoding(ask.subject(), ask.chance.choice([0, 0, 1, 1, 2, 3, 4, 5]), ask.codec_name())


Generator = Callable[[Asker], Any]
OF_NAME: Mapping[str, Generator] = {
    "schema_id": lambda a: a.chance.randint(1, MOST_IDS),
    "context": lambda a: a.chance.choice([".x", ".y"]),
    "guid": get_guid,
    "command_id": lambda a: a.chance.choice(a.command_ids) if a.command_ids else "none",
}
"""Members of requests by their names, where the type says too little."""
OF_TYPE: Mapping[Any, Generator] = {
    Subject: Asker.subject,
    Scope: Asker.scope,
    Draft: Asker.draft,
    tied.Resource: resource,
    Level: level,
    Pairs: Asker.properties,
    bool: lambda a: a.often(0.5),
    int: Asker.number,
    float: lambda a: float(a.number()),
    str: lambda a: a.chance.choice(["a", "b"]),
}


def made_of_types(kind: Any, ask: Asker) -> Any:
    """A request, or what stands in one, with members that follow from their types; those with a default are often left out."""
    hints = get_type_hints(kind)
    return kind(
        **{
            one.name: OF_NAME[one.name](ask) if one.name in OF_NAME else value_of_type(hints[one.name], ask)
            for one in fields(kind)
            if (one.default is MISSING and one.default_factory is MISSING) or ask.often(0.3)
        }
    )


def value_of_type(hint: Any, ask: Asker) -> Any:
    """A value of a type."""
    if hint in OF_TYPE:
        return OF_TYPE[hint](ask)
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ask.chance.choice(inside)
    if origin in {Union, UnionType}:
        return value_of_type(ask.chance.choice(inside), ask)
    if origin is tuple and inside[-1] is Ellipsis:
        return tuple(value_of_type(inside[0], ask) for _ in range(ask.chance.randint(0, 2)))
    if origin is tuple:
        return tuple(value_of_type(one, ask) for one in inside)
    return None if hint is type(None) else made_of_types(hint, ask)


GENERATORS: Mapping[type, tuple[float, Generator]] = {
    Register: (40, register),
    Derive: (3, derive),
    DeleteVersion: (8, lambda a: DeleteVersion(a.subject(), a.number(), a.often(0.5), a.often(0.1), a.often(0.5))),
    DeleteSubject: (5, lambda a: DeleteSubject(a.subject(), a.often(0.5), a.often(0.5))),
    packed.AddCodec: (1, lambda a: packed.AddCodec(a.subject(), codec(a))),
    packed.AssignEncoding: (6, assign_encoding),
    packed.GetEncoding: (2, lambda a: packed.GetEncoding(a.subject(), a.chance.randint(0, 5))),
    packed.ListEncodings: (1, lambda a: packed.ListEncodings(a.subject(), a.chance.choice([-1, -1, 0, 1, 3]))),
    keyed.AddApiKeys: (1, add_keys),
    keyed.RemoveApiKey: (0.5, lambda a: keyed.RemoveApiKey(a.chance.choice(DIGESTS))),
    keyed.ListApiKeys: (0.5, lambda a: keyed.ListApiKeys(a.chance.choice(["", *DIGESTS]))),
    MakeContext: (1, lambda a: MakeContext(a.chance.choice([".x", ".y"]), a.chance.randint(0, MOST_IDS))),
    DeleteContext: (1, lambda a: DeleteContext(a.chance.choice([".x", ".y"]))),
    SetConfig: (6, set_config),
    DeleteConfig: (2, lambda a: DeleteConfig(a.scope())),
    SetMode: (2, set_mode),
    DeleteMode: (2, lambda a: DeleteMode(a.scope(), a.often(0.3))),
    GetConfig: (2, lambda a: GetConfig(a.scope(), a.often(0.5))),
    GetMode: (2, lambda a: GetMode(a.scope(), a.often(0.5))),
    Lookup: (4, lambda a: Lookup(a.subject(), a.draft(), a.normalize(), a.often(0.3))),
    GetSchema: (5, get_schema),
    GetGuid: (2, lambda a: GetGuid(get_guid(a))),
    GetGuidIds: (1, lambda a: GetGuidIds(get_guid(a))),
    GetVersion: (6, get_version),
    GetPin: (1, get_pin),
    CompareVersions: (1, compare_versions),
    Search: (
        0.3,
        lambda a: Search(a.chance.choice(["field:a", "orders", "nosuch:a", "", '""']), a.chance.choice(["", "", "x"])),
    ),
    FindVersion: (1, lambda a: FindVersion(a.subject(), (("major", a.chance.choice("12")),))),
    ListSubjects: (3, lambda a: ListSubjects(visible=a.visible(), limit=a.chance.randint(1, 9))),
    ListVersions: (4, lambda a: ListVersions(a.subject(), a.visible())),
    ListSchemas: (1, lambda a: ListSchemas(visible=a.visible(), latest=a.often(0.3), aliases=a.often(0.3))),
    UsesOf: (1, lambda a: UsesOf(a.chance.randint(1, MOST_IDS), visible=a.visible())),
    ReferencedBy: (1, lambda a: ReferencedBy(a.subject(), a.number(), a.often(0.3))),
    tied.ListAssociations: (2, associations),
    tied.Associate: (4, lambda a: tied.Associate(resource(a), (wish(a),), a.often(0.5), dry_run=a.often(0.1))),
    tied.Dissociate: (
        4,
        lambda a: tied.Dissociate(resource(a).id, kinds=a.chance.choice([(), ("key",)]), cascade=a.often(0.3)),
    ),
    tied.ChangeAssociations: (2, lambda a: tied.ChangeAssociations((change(a), change(a)), a.often(0.1))),
    tied.GetAssociations: (1, lambda a: tied.GetAssociations((associations(a),), schemas=a.often(0.5))),
    ListSettings: (1, lambda a: ListSettings(after=a.scope() if a.often(0.3) else None)),
    ListContexts: (1, lambda a: ListContexts()),
    GetOutcome: (3, get_outcome),
    **OF_GROUPS,
    **OF_LABELS,
    **OF_IMPORTS,
}
"""Kinds of requests whose members go together: how often, and what. Others are made from their types."""
USUAL_WEIGHT = 1.0


def request(ask: Asker, weights: Mapping[type, float]) -> Request[Any]:
    """One request, of a kind chosen by weight."""
    kinds = list(weights)
    (kind,) = ask.chance.choices(kinds, [weights[one] for one in kinds])
    made: Request[Any] = generator(kind)(ask)
    return made


def generator(kind: type) -> Generator:
    """What makes requests of a kind: its own generator, or one that follows from the types of its members."""
    if kind in OF_SOURCES:
        return OF_SOURCES[kind]
    return GENERATORS[kind][1] if kind in GENERATORS else partial(made_of_types, kind)


def usual_weights() -> dict[type, float]:
    """How often each operation is asked for; sources have clients of their own, in some lives."""
    given = {kind: often for kind, (often, _) in GENERATORS.items()}
    return given | {kind: USUAL_WEIGHT for kind in OPERATIONS if kind not in {*given, *OF_SOURCES}}
