"""Lists: subjects, versions of many subjects, settings, contexts."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.associating import is_listed, listed_associations
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.selecting import STATES, describe
from tests.simulation.judging.model.settings import own_config, own_mode, told
from treaty.core import limits
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, Subjects, Versions
from treaty.core.messages.settings import ListSettings, Scope, ScopeSetting, ScopeSettings
from treaty.core.names import Subject, subject_of
from treaty.core.schema import RuleSet


def _subjects(past: Past, prefix: Subject) -> list[Subject]:
    """Subjects that begin with a prefix, by their qualified names."""
    there = {one.subject for one in past.versions}
    fits = (one for one in there if prefix.context in {"*", one.context} and one.name.startswith(prefix.name))
    return sorted(fits, key=str)


def _beyond(subject: Subject, last: str, prefix: Subject) -> bool:
    """Whether a subject comes after the last one of the page before."""
    if prefix.context != "*":
        return subject.name > subject_of(last).name
    return str(subject) > last


def list_subjects(past: Past, asking: Asking, request: ListSubjects) -> Yes:
    names = []
    for subject in _subjects(past, request.prefix):
        live, soft = past.shown(subject), past.shown(subject, ("soft",))
        listed = {"live": bool(live), "all": bool(live or soft), "deleted": bool(soft and not live)}
        if listed[request.visible] and (request.after is None or _beyond(subject, request.after, request.prefix)):
            names.append(str(subject))
    offset = request.offset if request.after is None else 0
    return Yes((), Subjects(tuple(names[offset : offset + request.limit])))


def list_schemas(past: Past, asking: Asking, request: ListSchemas) -> Yes:
    page = []
    for subject in _subjects(past, request.prefix):
        there = past.shown(subject, STATES[request.visible])
        for one in there[-1:] if request.latest else there:
            if request.after is not None:
                last, number = request.after
                again = subject_of(last) == subject and one.number > number and not request.latest
                if not again and not _beyond(subject, last, request.prefix):
                    continue
            page.append(one)
    if request.rule_type:
        page = [one for one in page if request.rule_type in _rule_types(one.schema.rules or RuleSet())]
    tied = bool(request.resource_type or request.kinds or request.lifecycles)
    if tied:
        page = [one for one in page if is_listed(past, one.subject, request)]
    offset = request.offset if request.after is None else 0
    page = page[offset : offset + request.limit]
    return Yes(
        (),
        Versions(
            tuple(describe(one) for one in page),
            tuple(_aliases(past, one.subject) for one in page) if request.aliases else (),
            tuple(listed_associations(past, one.subject, request) for one in page) if tied else (),
        ),
    )


def _rule_types(rules: RuleSet) -> list[str]:
    return [rule.type for rule in (*rules.migration, *rules.domain, *rules.encoding)]


def _aliases(past: Past, target: Subject) -> tuple[str, ...]:
    """Subjects whose own config says that they stand for another one."""
    standing = [
        Subject(scope.context, scope.name)
        for scope, config in past.configs.items()
        if scope.name is not None and config.alias and subject_of(config.alias, scope.context) == target
    ]
    return tuple(sorted(str(one) for one in standing if past.shows(Scope(*one))))


def list_contexts(past: Past, asking: Asking, request: ListContexts) -> Yes:
    names = sorted({".", *past.contexts})
    return Yes((), Contexts(tuple(name for name in names if name.startswith(request.prefix))))


def list_settings(past: Past, asking: Asking, request: ListSettings) -> Yes:
    """Contexts first, set or not, then everywhere, then subjects."""
    prefix = request.prefix
    scopes = [one for one in {*past.configs, *past.modes} if past.shows(one)]
    scopes = [one for one in scopes if _in_list(one, prefix)]
    if not prefix.name:
        every = (Scope(context) for context in {".", *past.contexts} if prefix.context in {"*", context})
        scopes += [one for one in every if one not in scopes]
    scopes.sort(key=_place)
    if request.after is not None:
        scopes = [one for one in scopes if _place(one) > _place(request.after)]
    offset = request.offset if request.after is None else 0
    page = scopes[offset : offset + min(request.limit, limits.SETTINGS_PAGE)]
    return Yes((), ScopeSettings(tuple(_setting(past, one) for one in page)))


def _place(scope: Scope) -> tuple[int, str, str]:
    if scope.context == "*":
        return (1, "*", "")
    return (0, scope.context, "") if scope.name is None else (2, scope.context, scope.name)


def _in_list(scope: Scope, prefix: Subject) -> bool:
    if scope.name is None or scope.context == "*":
        return not prefix.name and prefix.context in {"*", scope.context}
    return prefix.context in {"*", scope.context} and scope.name.startswith(prefix.name)


def _setting(past: Past, scope: Scope) -> ScopeSetting:
    above, config = scope.name is None or scope.context == "*", own_config(past, scope)
    return ScopeSetting(
        context=scope.context,
        name=None if above else scope.name,
        config=None if config is None else told(config),
        mode=own_mode(past, scope),
        highest_id=(past.highest_id(scope.context) or 0) if above and scope.context != "*" else 0,
    )
