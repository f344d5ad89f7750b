"""What a folder lacks: sources and types that have its label and that no file describes, users before what they use."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from treaty.core.messages.metastore.sources import DropSource, ExpectedSource
from treaty.core.refusals import Reason, Refusal
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source, StoredType
from treaty.core.state.metastore.indexes import reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.source_printer import print_source, print_type
from treaty.metastore.project.comparison import list_differences
from treaty.metastore.project.objects import ObjectKey
from treaty.metastore.project.plan import DROP, PlannedStep
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.properties import LABEL
from treaty.metastore.sql.statements import DropSourceStatement, DropTypeStatement


@dataclass(frozen=True, slots=True)
class DropChoice:
    """The label of a project, the keys of its objects, those of them that a step changes, the keys of the streams of bad rows that
    their statements do not ask for, and what each of its queries reads, by keys.
    """

    label: str
    kept: Collection[ObjectKey]
    changed: Collection[ObjectKey]
    superfluous: Collection[str] = ()
    reads: Mapping[str, Collection[str]] = field(default_factory=dict)


def plan_drops(choice: DropChoice, sources: Mapping[str, Source]) -> Exchange[list[PlannedStep]]:
    """Return the drops of what has the label and is not in the project; nothing without a label is ever dropped."""
    if not choice.label:
        return []
    going = {key: source for key, source in sources.items() if _is_going(choice, sources, key, source)}
    steps = []
    reads = {key: {key_of_name(one.source) for one in reads_of(source)} for key, source in going.items()}
    for key in order_drops(reads):
        steps.append((yield from _plan_drop(choice, sources, going, key)))
    return steps


def plan_type_drops(choice: DropChoice, types: Mapping[str, StoredType]) -> list[PlannedStep]:
    """Return the drops of the types that have the label and are not in the project. Whether something else uses them the dry run of
    the whole plan says, after the drops of sources.
    """
    going = _list_going_types(choice, types)
    steps = []
    for key in order_drops({key: set(type_.types) for key, type_ in going.items()}):
        drop = DropTypeStatement(going[key].name)
        lines = list_differences(print_type(going[key]), "")
        steps.append(
            PlannedStep(DROP, "TYPE", drop.name, differences=lines, statement=drop, text=print_statement(drop))
        )
    return steps


def note_undescribed(
    choice: DropChoice, sources: Mapping[str, Source], types: Mapping[str, StoredType]
) -> tuple[str, ...]:
    """Return a note for each source and type that has the label and no statement, where the plan drops nothing."""
    if not choice.label:
        return ()
    left = [source.name for key, source in sources.items() if _is_going(choice, sources, key, source)]
    left += [type_.name for type_ in _list_going_types(choice, types).values()]
    return tuple(f"{name} has the label {choice.label} and is in no file: --prune would drop it" for name in left)


def _list_going_types(choice: DropChoice, types: Mapping[str, StoredType]) -> dict[str, StoredType]:
    """Return the types that have the label and no statement; nothing without a label is ever dropped."""
    return {
        key: type_
        for key, type_ in types.items()
        if choice.label and type_.label == choice.label and ("type", key) not in choice.kept
    }


def _is_going(choice: DropChoice, sources: Mapping[str, Source], key: str, source: Source) -> bool:
    """Whether a source has the label and no statement; a stream of bad rows has the label of the source that it is of."""
    if ("source", key) in choice.kept:
        return False
    labelled = sources[source.origin] if key in choice.superfluous else source
    return dict(labelled.properties).get(LABEL) == choice.label


def order_drops(needs: Mapping[str, Collection[str]]) -> list[str]:
    """Return the keys so that users come before what they need."""
    ordered: list[str] = []
    left = dict(needs)
    while left:
        needed = {key for keys in left.values() for key in keys}
        free = sorted(key for key in left if key not in needed) or sorted(left)[:1]
        ordered += free
        for key in free:
            del left[key]
    return ordered


def _plan_drop(
    choice: DropChoice, sources: Mapping[str, Source], going: Mapping[str, Source], key: str
) -> Exchange[PlannedStep]:
    """Return the step that drops a source, with the streams of bad rows that go along, as a dry run with CASCADE lists them.

    It is refused where a source that stays reads it. If the plan changes one of these readers, only a changed one that reads it
    after the change refuses the drop: the others may read it by a changed one alone, which the dry run of the whole plan says.
    """
    source = going[key]
    drop = DropSourceStatement(source.kind, source.name)
    expected = ExpectedSource(source.generation, source.revision)
    lines = list_differences(print_source(source), "")
    step = PlannedStep(
        DROP, source.kind, source.name, differences=lines, statement=drop, text=print_statement(drop), expected=expected
    )
    request = DropSource(source.name, source.kind, cascade=True, expected=expected, dry_run=True)
    try:
        closure = (yield from request_answer(request)).names
    except Refusal as refused:
        return step.refuse(refused.reason)
    dependents = [name for name in closure if key_of_name(name) != key and key_of_name(name) not in going]
    readers = [name for name in dependents if not _is_bad_rows(sources, name)]
    step = replace(step, closure=tuple(name for name in dependents if name not in readers))
    changed_readers = [name for name in readers if ("source", key_of_name(name)) in choice.changed]
    refusing = readers
    if changed_readers:
        refusing = [name for name in changed_readers if key in choice.reads.get(key_of_name(name), ())]
    if refusing:
        return step.refuse(_read_by(source, refusing))
    return replace(step, is_checked=False) if changed_readers else step


def _is_bad_rows(sources: Mapping[str, Source], name: str) -> bool:
    """Whether a source has the bad rows of another one, with which it goes."""
    source = sources.get(key_of_name(name))
    return source is not None and bool(source.origin)


def _read_by(source: Source, readers: list[str]) -> Reason:
    return Reason(
        "SOURCE_READ",
        f"{source.name} is read by {', '.join(readers)}, which {'stays' if len(readers) == 1 else 'stay'}",
        path="/name",
        old=source.name,
        allowed="drop or change them first",
    )
