"""Subjects as groups: made, changed and removed apart from their versions, and told with their settings."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.changing import has_association, purge_subject
from tests.simulation.judging.model.events import ConfigChanged, ContextMade, Event, SubjectChanged, SubjectMade
from tests.simulation.judging.model.founding import (
    chosen_config,
    format_of,
    refuse_bad_properties,
    refuse_bad_settings,
    refuse_other_members,
)
from tests.simulation.judging.model.making import refuse_many_contexts
from tests.simulation.judging.model.metastore.pinning import refuse_if_pinned
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.referring import refuse_if_others_refer_to
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.selecting import no_subject
from tests.simulation.judging.model.settings import (
    as_kept,
    changed,
    config_in_force,
    followed,
    own_config,
    refuse_bad_policy,
    refuse_bad_words,
    refuse_if_readonly,
    told,
)
from tests.simulation.judging.model.subjects import refuse_bad_subject
from treaty.core import limits
from treaty.core.messages import groups as g
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.refusals import FormatNotAllowed, InvalidSetting, PreviousLevelDiffers, SubjectAssociated, TooLarge
from treaty.core.schema import Pairs
from treaty.core.state.values import ConfigValue, SubjectValue


def of_group(past: Past, subject: Subject) -> SubjectValue:
    """The subject; there has to be one."""
    there = past.subjects.get(subject)
    if there is None:
        raise no_subject(subject)
    return there


def describe_group(past: Past, subject: Subject) -> g.GroupFound:
    """A subject with its settings, as it is told."""
    there, scope, live = past.subjects[subject], Scope(*subject), past.shown(subject)
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
        schemes=there.schemes,
        private=there.private,
        label_policy=there.label_policy,
    )


# ------------------------------------------------------------------------------------------------------- commands


def create_subject(past: Past, asking: Asking, request: g.CreateSubject) -> Yes:
    """A subject without versions; one that is there keeps its settings."""
    subject, settings = request.subject, request.settings
    refuse_bad_subject(subject)
    refuse_bad_settings(settings)
    if request.label_policy not in {"warn", "refuse"}:
        raise No(InvalidSetting, "LABEL_POLICY", subject=str(subject))
    scope, change = Scope(*subject), settings.policy
    if change is not None:
        refuse_other_members(change)
        refuse_bad_words(past, change)
    if subject in past.subjects:
        return Yes((), g.GroupCreated(describe_group(past, subject), created=False))
    events: list[Event] = []
    chosen = None
    if change is not None:
        refuse_bad_policy(past, scope, change)
        chosen = chosen_config(past, subject, change)
    refuse_if_readonly(past, scope)
    if subject.context not in past.contexts:
        refuse_many_contexts(past)
        events.append(ContextMade(subject.context))
    if past.count_subjects(subject.context) >= limits.SUBJECTS_PER_CONTEXT:
        raise No(TooLarge, "SUBJECTS_PER_CONTEXT", subject=str(subject))
    made = SubjectValue(
        generation=past.sequence + 1,
        origin=settings.origin,
        types=settings.types,
        order=settings.order,
        identity=settings.identity,
        properties=settings.properties,
        schemes=settings.schemes,
        private=request.private,
        label_policy=request.label_policy,
    )
    events.append(SubjectMade(subject, made))
    events += [] if chosen is None else [chosen]
    return Yes(tuple(events), g.GroupCreated(describe_group(past.then(events), subject), created=True))


def change_subject(past: Past, asking: Asking, request: g.ChangeSubject) -> Yes:
    """What is named is set; with `previous` only where the level in force is that one."""
    subject, scope = request.subject, Scope(*request.subject)
    if request.properties is not None:
        refuse_bad_properties(request.properties)
    if request.label_policy not in {None, "warn", "refuse"}:
        raise No(InvalidSetting, "LABEL_POLICY", subject=str(subject))
    there = of_group(past, subject)
    policy = request.label_policy or there.label_policy
    change = Config(exact_level=request.level, validators=request.validators, follows=request.follows)
    refuse_bad_policy(past, scope, change)
    if request.properties is not None:
        _refuse_other_live_formats(past, subject, request.properties)
    level = config_in_force(past, scope).level
    if request.previous is not None and request.previous != level:
        raise No(PreviousLevelDiffers, "PREVIOUS_LEVEL", subject=str(subject))
    refuse_if_readonly(past, scope)
    events: list[Event] = []
    old = own_config(past, scope)
    new = followed(past, changed(old, change, ()))
    if (request.level, request.validators, request.follows) != (None, None, None) and new != old:
        events.append(ConfigChanged(scope, as_kept(new)))
    if request.properties is not None and request.properties != there.properties:
        events.append(SubjectChanged(subject, request.properties, policy))
    elif policy != there.label_policy:
        events.append(SubjectChanged(subject, there.properties, policy))
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
    refuse_if_pinned(past, past.of(subject))
    refuse_if_readonly(past, Scope(*subject))
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
        if one.context == request.context and one.name > request.after and past.shows(Scope(*one))
    )
    page = names[: max(0, min(request.limit, limits.GROUPS_PAGE))]
    groups = tuple(describe_group(past, Subject(request.context, name)) for name in page)
    return Yes((), g.Groups(groups, page[-1] if page else request.after))
