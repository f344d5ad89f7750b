"""Subjects as groups: made, changed and removed apart from their versions, and told with their settings."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.changing import has_association, purge_subject
from tests.simulation.judging.model.events import ConfigChanged, ContextMade, Event, SubjectChanged, SubjectMade
from tests.simulation.judging.model.making import refuse_many_contexts
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.referring import refuse_if_others_refer_to
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.selecting import no_subject
from tests.simulation.judging.model.settings import (
    SAME,
    changed,
    config_in_force,
    own_config,
    refuse_bad_policy,
    refuse_bad_words,
    refuse_if_readonly,
    told,
)
from tests.simulation.judging.model.subjects import refuse_bad_subject
from treaty.core import groups as g
from treaty.core import limits
from treaty.core import requests as q
from treaty.core.answers import Config
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.refusals import (
    FormatNotAllowed,
    InvalidSetting,
    NotPermitted,
    PreviousLevelDiffers,
    SubjectAssociated,
    TooLarge,
)
from treaty.core.schema import Pairs
from treaty.core.state.values import ConfigValue, SubjectValue

WORDS = {
    "types": ("across", "one", "many"),
    "order": ("registration", "schemaver"),
    "identity": ("canonical", "normalised", "exact"),
}
"""Settings that never change, and the words that they may have."""
HOME = ("level", "partition", "strictness", "validators")
"""What makes the policy of a config."""


def of_group(past: Past, subject: Subject) -> SubjectValue:
    """The subject; there has to be one."""
    there = past.subjects.get(subject)
    if there is None:
        raise no_subject(subject)
    return there


def describe_group(past: Past, subject: Subject) -> g.GroupFound:
    """A subject with its settings, as it is told."""
    there, scope, live = past.subjects[subject], q.Scope(*subject), past.shown(subject)
    formats = {one.version.format for one in live}
    return g.GroupFound(
        subject=str(subject),
        origin=there.origin,
        types=there.types,
        order=there.order,
        identity=there.identity,
        format=dict(there.properties).get(g.FORMAT) or (formats.pop() if len(formats) == 1 else g.ANY_FORMAT),
        level=config_in_force(past, scope).level or Level(),
        config=told(own_config(past, scope) or ConfigValue()),
        properties=there.properties,
        latest=live[-1].ordinal if live else -1,
    )


# ----------------------------------------------------------------------------------------------------- conditions


def refuse_bad_properties(properties: Pairs) -> None:
    """So many and so long, each once; names that begin with the registry's own are its own."""
    if len(properties) > limits.GROUP_PROPERTIES:
        raise No(TooLarge, "GROUP_PROPERTIES")
    if sum(len(name) + len(value) for name, value in properties) > limits.GROUP_PROPERTY_CHARACTERS:
        raise No(TooLarge, "GROUP_PROPERTY_CHARACTERS")
    if len(dict(properties)) < len(properties):
        raise No(InvalidSetting, "PROPERTY_TWICE")
    for name, value in properties:
        if name == g.FORMAT:
            word = value.isprintable() and value and value == value.upper() and " " not in value
            if value != g.ANY_FORMAT and not word:
                raise No(InvalidSetting, "PROPERTY_FORMAT")
        elif name.startswith("treaty."):
            raise No(InvalidSetting, "PROPERTY_RESERVED")


def refuse_bad_settings(settings: g.GroupSettings | q.SubjectCreation) -> None:
    for name, words in WORDS.items():
        if getattr(settings, name) not in words:
            raise No(InvalidSetting, "SUBJECT_SETTING", new=getattr(settings, name))
    if not settings.origin or not settings.origin.isprintable() or len(settings.origin) > limits.ORIGIN_LENGTH:
        raise No(InvalidSetting, "SUBJECT_ORIGIN")
    refuse_bad_properties(settings.properties)


def format_of(properties: Pairs) -> str:
    """The only format that a subject with these properties takes; empty where it takes all."""
    named = dict(properties).get(g.FORMAT, g.ANY_FORMAT)
    return "" if named == g.ANY_FORMAT else named


def refuse_other_format(subject: Subject, properties: Pairs, format_: str) -> None:
    only = format_of(properties)
    if only and format_ != only:
        raise No(FormatNotAllowed, "SUBJECT_FORMAT", subject=str(subject), old=only, new=format_)


def chosen_config(past: Past, subject: Subject, change: Config) -> ConfigChanged:
    """The policy of a new subject has its home in the config of the subject, which may say nothing else of it."""
    scope = q.Scope(*subject)
    old = own_config(past, scope) or ConfigValue()
    new = changed(old, change, ())
    for name in HOME:
        if getattr(old, name) not in {None, getattr(new, name)}:
            raise No(NotPermitted, "CREATE_WITH_CONFIG", subject=str(subject))
    return ConfigChanged(scope, new)


def refuse_other_members(change: Config) -> None:
    """Only what makes a policy may come with a new subject."""
    if any(getattr(change, name) is not None for name in SAME if name != "validators"):
        raise No(InvalidSetting, "CREATE_WITH_MEMBER")


# ------------------------------------------------------------------------------------------------------- commands


def create_subject(past: Past, asking: Asking, request: g.CreateSubject) -> Yes:
    """A subject without versions; one that is there keeps its settings."""
    subject, settings = request.subject, request.settings
    refuse_bad_subject(subject)
    refuse_bad_settings(settings)
    scope, change = q.Scope(*subject), settings.policy
    if change is not None:
        refuse_other_members(change)
        refuse_bad_words(change)
    if subject in past.subjects:
        return Yes((), g.GroupCreated(describe_group(past, subject), created=False))
    refuse_if_readonly(past, scope)
    events: list[Event] = []
    if subject.context not in past.contexts:
        refuse_many_contexts(past)
        events.append(ContextMade(subject.context))
    if sum(one.context == subject.context for one in past.subjects) >= limits.SUBJECTS_PER_CONTEXT:
        raise No(TooLarge, "SUBJECTS_PER_CONTEXT", subject=str(subject))
    made = SubjectValue(
        generation=past.sequence + 1,
        origin=settings.origin,
        types=settings.types,
        order=settings.order,
        identity=settings.identity,
        properties=settings.properties,
    )
    events.append(SubjectMade(subject, made))
    if change is not None:
        refuse_bad_policy(past, scope, change)
        events.append(chosen_config(past, subject, change))
    return Yes(tuple(events), g.GroupCreated(describe_group(past.then(events), subject), created=True))


def change_subject(past: Past, asking: Asking, request: g.ChangeSubject) -> Yes:
    """What is named is set; with `previous` only where the level in force is that one."""
    subject, scope = request.subject, q.Scope(*request.subject)
    there = of_group(past, subject)
    if request.properties is not None:
        refuse_bad_properties(request.properties)
    change = Config(exact_level=request.level, validators=request.validators)
    refuse_bad_policy(past, scope, change)
    level = config_in_force(past, scope).level
    if request.previous is not None and request.previous != level:
        raise No(PreviousLevelDiffers, "PREVIOUS_LEVEL", subject=str(subject))
    refuse_if_readonly(past, scope)
    events: list[Event] = []
    old = own_config(past, scope)
    new = changed(old, change, ())
    if (request.level, request.validators) != (None, None) and new != old:
        events.append(ConfigChanged(scope, new))
    if request.properties is not None and request.properties != there.properties:
        _refuse_other_live_formats(past, subject, request.properties)
        events.append(SubjectChanged(subject, request.properties))
    return Yes(tuple(events), g.GroupCreated(describe_group(past.then(events), subject), created=False))


def _refuse_other_live_formats(past: Past, subject: Subject, properties: Pairs) -> None:
    only = format_of(properties)
    if only and any(one.version.format != only for one in past.shown(subject)):
        raise No(FormatNotAllowed, "FORMAT_IN_USE", subject=str(subject), new=only)


def remove_subject(past: Past, asking: Asking, request: g.RemoveSubject) -> Yes:
    """All that is its own goes; ids of encodings stay used up."""
    subject = request.subject
    if subject not in past.subjects:
        return Yes((), g.GroupRemoved(removed=False))
    if has_association(past, subject):
        raise No(SubjectAssociated, "SUBJECT_ASSOCIATED", subject=str(subject))
    refuse_if_others_refer_to(past, subject)
    refuse_if_readonly(past, q.Scope(*subject))
    return Yes(tuple(purge_subject(past, subject)), g.GroupRemoved(removed=True))


# -------------------------------------------------------------------------------------------------------- queries


def get_subject(past: Past, asking: Asking, request: g.GetSubject) -> Yes:
    of_group(past, request.subject)
    return Yes((), describe_group(past, request.subject))


def list_groups(past: Past, asking: Asking, request: g.ListGroups) -> Yes:
    """A page of subjects of one context, those without versions too, by name."""
    names = sorted(
        one.name
        for one in past.subjects
        if one.context == request.context and one.name > request.after and past.shows(q.Scope(*one))
    )
    page = names[: max(0, min(request.limit, limits.GROUPS_PAGE))]
    groups = tuple(describe_group(past, Subject(request.context, name)) for name in page)
    return Yes((), g.Groups(groups, page[-1] if page else request.after))
