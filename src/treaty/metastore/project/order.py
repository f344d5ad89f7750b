"""The order in which the objects of a project are created: types, what stands over their schemas, and what reads others."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from treaty.core.column_types import SqlType, list_type_names
from treaty.core.column_types.tokens import SqlToken, split_tokens
from treaty.core.names import Subject, subject_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.sides import SUBJECT_PROPERTIES
from treaty.metastore.definitions import TABLES, connector_of
from treaty.metastore.project.files import InvalidProjectError
from treaty.metastore.project.objects import ObjectKey, ProjectObject
from treaty.metastore.sql.properties import KAFKA, NONE
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement

_BEFORE = frozenset({"FROM", "JOIN"})
_CLAUSES = frozenset({"SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "WINDOW"})
_PREFIXES = frozenset({"LATERAL", "STREAM", "TABLE"})


def order_objects(objects: Sequence[ProjectObject]) -> tuple[ProjectObject, ...]:
    """Return the objects so that each comes after those that it needs; the order of the files does not matter.

    Raises `InvalidProjectError` for objects that need each other.
    """
    by_key = {described.key: described for described in objects}
    needs = {key: frozenset(needed) for key, needed in find_needs(objects).items()}
    users: dict[ObjectKey, list[ObjectKey]] = {key: [] for key in by_key}
    for key, needed in needs.items():
        for needed_key in needed:
            users[needed_key].append(key)
    waiting = {key: len(needed) for key, needed in needs.items()}
    ready = [(_rank(by_key[key]), key) for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    ordered: list[ProjectObject] = []
    while ready:
        _, key = heapq.heappop(ready)
        ordered.append(by_key[key])
        for user in users[key]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (_rank(by_key[user]), user))
    if len(ordered) < len(by_key):
        raise _circle(by_key, needs, {key for key, count in waiting.items() if count})
    return tuple(ordered)


def _rank(described: ProjectObject) -> int:
    statement = described.statement
    return 0 if isinstance(statement, CreateTypeStatement) else 2 if statement.body else 1


def _circle(
    by_key: Mapping[ObjectKey, ProjectObject], needs: Mapping[ObjectKey, frozenset[ObjectKey]], left: set[ObjectKey]
) -> InvalidProjectError:
    """Return the error of objects that wait for each other, with the names of one circle."""
    key = min(left)
    path: list[ObjectKey] = []
    while key not in path:
        path.append(key)
        key = min(needs[key] & left)
    circle = [*path[path.index(key) :], key]
    names = " → ".join(by_key[one].name for one in circle)
    first = by_key[circle[0]]
    hint = "one of them without the other"
    return InvalidProjectError([first.find_problem("PROJECT_CIRCLE", f"these need each other: {names}", hint)])


def find_needs(objects: Sequence[ProjectObject]) -> Mapping[ObjectKey, set[ObjectKey]]:
    """Return what each object needs of the others: types that it names, sources that its query reads, and the sources whose
    columns become the schemas that its own columns are taken from.
    """
    keys = {described.key for described in objects}
    writers: dict[Subject, list[ObjectKey]] = {}
    for described in objects:
        if isinstance(described.statement, CreateSourceStatement):
            for subject in list_written_subjects(described.statement):
                writers.setdefault(subject, []).append(described.key)
    needs: dict[ObjectKey, set[ObjectKey]] = {}
    for described in objects:
        statement = described.statement
        needed: set[ObjectKey] = {("type", name) for kind in types_of(statement) for name in list_type_names(kind)}
        if isinstance(statement, CreateSourceStatement):
            needed |= {("source", name) for name in list_read_names(statement.body)}
            for subject in list_read_subjects(statement):
                needed |= set(writers.get(subject, ()))
        needs[described.key] = (needed & keys) - {described.key}
    return needs


def types_of(statement: CreateSourceStatement | CreateTypeStatement) -> Iterator[SqlType]:
    """Yield the types that a statement names."""
    if isinstance(statement, CreateTypeStatement):
        yield statement.type
    else:
        yield from (column.type for column in statement.columns)


def side_subject(statement: CreateSourceStatement, side: str) -> Subject:
    """Return the subject of the key or the value of a source."""
    place = statement.property("KAFKA_TOPIC") or statement.property("PATH") or statement.name
    return subject_of(statement.property(SUBJECT_PROPERTIES["key" if side == "key" else "value"]) or f"{place}-{side}")


def list_written_subjects(statement: CreateSourceStatement) -> Iterator[Subject]:
    """Yield the subjects in which a source registers the schemas of its columns."""
    for side in ("key", "value"):
        declared = any(column.role == side for column in statement.columns)
        if declared or statement.body:
            yield side_subject(statement, side)


def list_read_subjects(statement: CreateSourceStatement) -> Iterator[Subject]:
    """Yield the subjects from which a source takes its columns."""
    for side in list_inferred_sides(statement):
        yield side_subject(statement, side)


def list_inferred_sides(statement: CreateSourceStatement) -> Iterator[Side]:
    """Yield which of key and value a source takes from a schema."""
    sides: tuple[Side, ...] = ("key", "value")
    for side in () if statement.body or connector_of(statement) in TABLES else sides:
        if side == "key" and not any(map(statement.property, ("KEY_SUBJECT", "KEY_FORMAT", "KEY_SCHEMA_ID"))):
            continue
        if statement.property(f"{side.upper()}_FORMAT") not in {NONE, KAFKA} and not any(
            column.role == side for column in statement.columns
        ):
            yield side


def list_read_names(body: str) -> Iterator[str]:
    """Yield the keys of names that stand where a query reads a table: behind FROM, JOIN, and the commas of FROM.

    A query is not parsed here. Names of its own WITH clauses and functions are not among them.
    """
    levels = [[False, False]]  # of each open parenthesis: whether FROM is being read, and whether a name is expected
    tokens = split_tokens(body) if body else []
    own = {
        key_of_name(_read_name_token(token))
        for token, after, sign in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if after.keyword == "AS" and sign.text == "("
    }
    for token, after in pairwise(tokens):
        level, word = levels[-1], token.keyword
        if token.text == "(" and token.kind == "sign":
            levels.append([level[1], level[1]])
            level[1] = False
        elif token.text == ")" and token.kind == "sign":
            del levels[max(1, len(levels) - 1) :]
        elif word in _BEFORE or (level[0] and token.text == ","):
            level[:] = [True, True]
        elif word in _CLAUSES:
            level[:] = [False, False]
        elif level[1] and word not in _PREFIXES and token.kind in {"word", "quoted"}:
            name = key_of_name(_read_name_token(token))
            if name not in own and after.text != "(":
                yield name
            level[1] = False


def _read_name_token(token: SqlToken) -> str:
    return token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
