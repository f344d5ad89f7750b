"""SHOW, DESCRIBE and SHOW CREATE: rows of the metastore as rows of results."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from treaty.core.column_types.tokens import print_name
from treaty.core.handlers.metastore.names import refuse_other_kind
from treaty.core.limits import RESULT_ROWS
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.metastore.sources import (
    Dependent,
    DescribeSource,
    DescribeType,
    ListDependents,
    ListSources,
    ListTypes,
    TypeFound,
)
from treaty.core.messages.names import SEQUENCE, GetNamedVersion
from treaty.core.names import Subject
from treaty.core.refusals import NotFound, Refusal, SourceNotFound, TypeNotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import BAD, QUERY, RUNNING, QueryPlan, Source
from treaty.core.state.metastore.indexes import pins_of, reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.history import show_history
from treaty.metastore.execution.pages import (
    NO_RUNNER,
    list_dropped,
    list_fed_queries,
    list_running,
    list_sources,
    list_types,
)
from treaty.metastore.execution.results import ResultRows
from treaty.metastore.execution.source_printer import print_source, print_type
from treaty.metastore.sql.diagnostics import WORD_LENGTH, MissingTypesError
from treaty.metastore.sql.properties import PROPERTIES
from treaty.metastore.sql.statements import DescribeStatement, ShowCreateStatement, ShowStatement


def show(statement: ShowStatement) -> Exchange[ResultRows]:
    """Return the rows of a SHOW."""
    if statement.listing == "DEPENDENCIES":
        return (yield from _show_dependencies(statement))
    if statement.listing == "HISTORY":
        return (yield from show_history(statement.of))
    if statement.listing == "TOPICS":
        from treaty.metastore.execution.topic_statements import show_topics  # noqa: PLC0415 (a client of Kafka)

        return (yield from show_topics(extended=statement.extended))
    return (yield from _SHOWN[statement.listing](statement))


def _show_streams(statement: ShowStatement) -> Exchange[ResultRows]:
    return (yield from _show_sources("STREAM", extended=statement.extended))


def _show_tables(statement: ShowStatement) -> Exchange[ResultRows]:
    return (yield from _show_sources("TABLE", extended=statement.extended))


def _show_sources(kind: str, *, extended: bool) -> Exchange[ResultRows]:
    names = ("name", "connector", "place", "key_format", "value_format", "query")
    listing = ResultRows((*names, "generation", "revision", "author", "comment") if extended else names)
    for source in (yield from list_sources(kind)):
        row = (
            source.name, source.connector, source.place, source.key.format if source.key else "",
            source.value.format if source.value else "", source.desired if source.query else "",
        )  # fmt: skip
        more = (source.generation, source.revision, source.author, source.comment)
        listing.add(*row, *(more if extended else ()))
    return listing


def _show_types(_statement: ShowStatement) -> Exchange[ResultRows]:
    listing = ResultRows(("name", "definition", "comment"))
    for type_ in (yield from list_types()):
        listing.add(type_.name, type_.definition, type_.comment)
    return listing


def _show_queries(statement: ShowStatement) -> Exchange[ResultRows]:
    if statement.extended:
        return (yield from _show_fed_queries())
    listing = ResultRows(("source", "kind", "state", "reads", "incarnation", "body"))
    running = yield from list_running()
    for source in (yield from list_sources()):
        query = source.query
        if source.imported is not None:
            listing.add(source.name, source.kind, source.desired, "not planned", None, source.imported.original)
        if query is None:
            continue
        reads = ", ".join(read.spelling or read.source for read in query.plan.reads)
        listing.add(source.name, source.kind, _state_of(source, running), reads, query.began, query.plan.body)
    return listing


def _state_of(source: Source, running: Collection[str] | None) -> str:
    """The state that a query is to have, or that no runner has it. `running` are the keys of those that runners have, None where that is not known."""
    if source.desired != RUNNING or running is None or key_of_name(source.name) in running:
        return source.desired
    return NO_RUNNER


def _show_fed_queries() -> Exchange[ResultRows]:
    """Return what is run, bad rows of sources too, with the runner that has it and the address of its status."""
    names = ("source", "kind", "part", "state", "reads", "incarnation", "revision", "output_mode", "runner", "address")
    listing = ResultRows((*names, "engine", "once", "body"))
    queries, runners = yield from list_fed_queries()
    for fed in queries:
        source, query = fed.source, fed.source.query
        owners = {one.part: one.runner for one in fed.assigned}
        part = QUERY if query is not None else BAD
        owner = owners.get(part, "")
        address = runners[owner].address if owner in runners else ""
        plan = QueryPlan("") if query is None else query.plan
        reads = ", ".join(read.spelling or read.source for read in plan.reads) or source.origin
        listing.add(
            source.name, source.kind, part, source.desired, reads, query.began if query is not None else source.generation,
            source.revision, plan.output_mode, owner, address, plan.engine, ", ".join(str(one.began) for one in source.once), plan.body,
        )  # fmt: skip
    return listing


def _show_subjects(_statement: ShowStatement) -> Exchange[ResultRows]:
    listing = ResultRows(("subject",))
    for subject in (yield from request_answer(ListSubjects(limit=RESULT_ROWS))).names:
        listing.add(subject)
    return listing


def _show_dropped(_statement: ShowStatement) -> Exchange[ResultRows]:
    listing = ResultRows(("name", "kind", "generation", "author", "time"))
    for gone in (yield from list_dropped()):
        listing.add(gone.name, gone.kind, gone.generation, gone.author, gone.time)
    return listing


def _show_properties(_statement: ShowStatement) -> Exchange[ResultRows]:
    listing = ResultRows(("property", "values", "purpose"))
    both = replace(PROPERTIES["VALUE_FORMAT"], purpose="KEY_FORMAT and VALUE_FORMAT at once")
    for name, about in sorted({**PROPERTIES, "FORMAT": both}.items()):
        listing.add(name, ", ".join(about.allowed), about.purpose)
    yield from ()
    return listing


def _show_dependencies(statement: ShowStatement) -> Exchange[ResultRows]:
    listing = ResultRows(("name", "kind", "needs", "effect", "depth"))
    if not statement.of:
        for dependent in _list_dependents((yield from list_sources()), recursive=statement.recursive):
            listing.add(dependent.name, dependent.kind, dependent.needs, dependent.effect, dependent.depth)
        return listing
    try:
        dependents = yield from request_answer(ListDependents(statement.of, recursive=statement.recursive))
    except NotFound as missing:
        return (yield from _show_type_users(statement, missing))
    for dependent in dependents.dependents:
        listing.add(dependent.name, dependent.kind, dependent.needs, dependent.effect, dependent.depth)
    for dependent in dependents.upstreams:
        listing.add(statement.of, dependent.kind, dependent.name, dependent.effect, 0)
    if dependents.hidden:
        listing.add(f"{dependents.hidden} that you may not see", "", statement.of, "refuses", 1)
    return listing


def _show_type_users(statement: ShowStatement, missing: NotFound) -> Exchange[ResultRows]:
    """Return who uses a type, and the types that it uses. Raises `missing` where there is no such type either."""
    listing = ResultRows(("name", "kind", "needs", "effect", "depth"))
    try:
        described = yield from request_answer(DescribeType(statement.of))
    except NotFound:
        raise missing from None
    types = {key_of_name(type_.name) for type_ in (yield from list_types())}
    level, visited, depth = [described], {key_of_name(statement.of)}, 1
    while level:
        nested: list[TypeFound] = []
        for described_type in level:
            for user in described_type.users:
                kind = "TYPE" if key_of_name(user) in types else "SOURCE"
                listing.add(user, kind, described_type.type.name, "refuses", depth)
                if kind == "TYPE" and statement.recursive and key_of_name(user) not in visited:
                    visited.add(key_of_name(user))
                    nested.append((yield from request_answer(DescribeType(user))))
            if described_type.hidden_users:
                listing.add(
                    f"{described_type.hidden_users} that you may not see",
                    "",
                    described_type.type.name,
                    "refuses",
                    depth,
                )
        level, depth = nested, depth + 1
    for used in described.type.types:
        listing.add(described.type.name, "TYPE", used, "refuses", 0)
    return listing


def _list_dependents(sources: Sequence[Source], *, recursive: bool) -> Iterator[Dependent]:
    """List who needs each of these sources: their rows say it, so that nothing is asked for each one."""
    names = {key_of_name(source.name): source.name for source in sources}
    users: dict[str, list[tuple[str, str]]] = {}
    for source in sources:
        needed = dict.fromkeys((key_of_name(read.source) for read in reads_of(source)), "refuses")
        for key, effect in (needed | ({source.origin: "goes along"} if source.origin else {})).items():
            users.setdefault(key, []).append((key_of_name(source.name), effect))
    for start in names:
        visited, level, depth = {start}, [start], 0
        while level and (recursive or depth == 0):
            depth += 1
            steps = [(user, key, effect) for key in level for user, effect in users.get(key, ())]
            level = []
            for user, key, effect in steps:
                if user not in visited:
                    visited.add(user)
                    level.append(user)
                    yield Dependent("SOURCE", names[user], names[key], effect, depth)


_SHOWN: Mapping[str, Callable[[ShowStatement], Exchange[ResultRows]]] = {
    "STREAMS": _show_streams,
    "TABLES": _show_tables,
    "TYPES": _show_types,
    "QUERIES": _show_queries,
    "SUBJECTS": _show_subjects,
    "DROPPED": _show_dropped,
    "PROPERTIES": _show_properties,
}
"""By what a SHOW shows."""


def describe(statement: DescribeStatement) -> Exchange[ResultRows]:
    """Return the columns of a source, and with EXTENDED all else that its row says; or a type."""
    if statement.kind == "TYPE":
        return (yield from _describe_type(statement.name))
    try:
        described = yield from request_answer(DescribeSource(statement.name))
    except SourceNotFound as missing:
        return (yield from _of_type_or(missing, statement.kind, _describe_type(statement.name)))
    refuse_other_kind(described.source, statement.kind, "DESCRIBE")
    listing = ResultRows(("column", "type", "role", "nullable", "comment"))
    for column in described.source.columns:
        role = f"header {column.header}" if column.header else column.role
        listing.add(column.name, column.type, role, column.nullable, column.comment)
    if statement.extended:
        pins = yield from _name_pins(described.source)
        for name, text in _facts(described.source, pins):
            listing.add(name, text, "", None, "")
        from treaty.metastore.execution.topic_statements import describe_topic  # noqa: PLC0415 (a client of Kafka)

        if state := (yield from describe_topic(described.source)):
            listing.add("topic", state, "", None, "")
        listing.add("read by", ", ".join(described.readers), "", None, "")
        if described.hidden_readers:
            listing.add("read by others", str(described.hidden_readers), "", None, "")
    return listing


def _name_pins(source: Source) -> Exchange[str]:
    """Return the versions that a source is bound to by their numbers; by schema id alone those that the caller may not see."""
    names = []
    for pin in pins_of(source):
        # A number is no ordinal + 1: an import gives versions the numbers that they had.
        subject = Subject(pin.context, pin.subject)
        named = GetNamedVersion(subject, str(pin.ordinal + 1), SEQUENCE)
        try:
            number = f" version {(yield from request_answer(named)).number}"
        except Refusal:
            number = ""
        names.append(f"{subject}{number} (id {pin.schema_id})")
    return ", ".join(names)


def _facts(source: Source, pins: str) -> list[tuple[str, str]]:
    facts = [
        ("kind", source.kind), ("generation", str(source.generation)), ("revision", str(source.revision)),
        ("connector", source.connector), ("cluster", source.cluster), ("place", source.place), ("pins", pins),
        ("protected", "yes" if source.protected else ""), ("created by", source.author), ("changed by", source.changed_by),
        ("comment", source.comment), *source.properties,
    ]  # fmt: skip
    if source.imported is not None:
        query = source.imported
        facts += [
            ("imported query", f"{query.id}: {query.original}"),
            ("state", f"{source.desired}: nothing has planned it"),
        ]
        facts += [("suggestion", query.suggestion), *(("note", note) for note in query.notes)]
    if source.query is not None:
        plan = source.query.plan
        facts += [("query", plan.body), ("state", source.desired), ("output mode", plan.output_mode)]
        facts += [("reads", ", ".join(read.spelling or read.source for read in plan.reads)), ("engine", plan.engine)]
    return [(name, text) for name, text in facts if text]


def _describe_type(name: str) -> Exchange[ResultRows]:
    described = yield from request_answer(DescribeType(name))
    listing = ResultRows(("type", "definition", "expanded", "used by", "label"))
    users = [*described.users, *([f"{described.hidden_users} that you may not see"] if described.hidden_users else [])]
    row = described.type
    listing.add(row.name, row.definition, described.expanded, ", ".join(users), row.label)
    return listing


def _of_type_or(missing: SourceNotFound, kind: str, listing: Exchange[ResultRows]) -> Exchange[ResultRows]:
    """Return a listing of the type that has the name of a missing source, where the statement names no kind; else raise that it is missing."""
    if kind:
        raise missing
    try:
        return (yield from listing)
    except Refusal:
        raise missing from None


def show_create(statement: ShowCreateStatement) -> Exchange[ResultRows]:
    """Return the statement that creates a source or a type."""
    if statement.kind == "TYPE":
        return (yield from _show_create_type(statement.name))
    listing = ResultRows(("statement",))
    try:
        source = (yield from request_answer(DescribeSource(statement.name))).source
    except SourceNotFound as missing:
        return (yield from _of_type_or(missing, statement.kind, _show_create_type(statement.name)))
    refuse_other_kind(source, statement.kind, "SHOW CREATE")
    listing.add(print_source(source))
    return listing


def _show_create_type(name: str) -> Exchange[ResultRows]:
    listing = ResultRows(("statement",))
    listing.add(print_type((yield from request_answer(DescribeType(name))).type))
    return listing


def add_nearest_types(missing: MissingTypesError) -> Exchange[MissingTypesError]:
    """Return the refusal of several types with the one for each that is much like it."""
    nearest: list[TypeNotFound] = []
    for refused in missing.missing:
        near = yield from add_nearest_name(refused)
        assert isinstance(near, TypeNotFound), "the refusal keeps its kind"
        nearest.append(near)
    return MissingTypesError.by(nearest)


def add_nearest_name(missing: NotFound) -> Exchange[NotFound]:
    """Return the refusal of a name with the one that is much like it, of the first page of the sources or types that the caller may see."""
    reason = missing.reason
    if len(reason.new) > WORD_LENGTH:
        return missing
    match missing:
        case SourceNotFound() if reason.rule == "SOURCE_NOT_FOUND":
            names = yield from _names_of_sources()
        case TypeNotFound() if reason.rule == "TYPE_NOT_FOUND":
            names = yield from _names_of_types()
        case _:
            return missing
    near = get_close_matches(key_of_name(reason.new), names, 1)
    if not near:
        return missing
    name = print_name(names[near[0]])
    return type(missing)(replace(reason, allowed=f"did you mean {name}? {reason.allowed}"))


def _names_of_sources() -> Exchange[dict[str, str]]:
    """Return names of sources by their keys; none where they can't be listed."""
    try:
        page = yield from request_answer(ListSources())
    except Refusal:
        return {}
    return {key_of_name(source.name): source.name for source in page.sources}


def _names_of_types() -> Exchange[dict[str, str]]:
    """Return names of types by their keys; none where they can't be listed."""
    try:
        page = yield from request_answer(ListTypes())
    except Refusal:
        return {}
    return {key_of_name(one.name): one.name for one in page.types}
