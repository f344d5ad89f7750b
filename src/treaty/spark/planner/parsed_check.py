"""The check of a parsed body, before Spark looks anything up: nodes and functions from lists, and nothing else."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from treaty.core.column_types.tokens import SqlToken, read_quoted, read_text
from treaty.core.limits import BODY_ELEMENTS, BODY_NODES, BODY_WINDOWS
from treaty.metastore.sql.diagnostics import WORD_LENGTH
from treaty.metastore.sql.foreign_bodies import FUNCTION_FORMS, find_foreign_form
from treaty.spark.planner.functions import (
    ALLOWED_FUNCTIONS,
    FILLED_FUNCTIONS,
    FORMATS,
    GENERATORS,
    LAMBDA_FUNCTIONS,
    REFUSED_FUNCTIONS,
    SIZED_FUNCTIONS,
    TIMES_OF_AN_ARGUMENT,
)
from treaty.spark.planner.questions import BodyRefusedError
from treaty.spark.planner.refused_nodes import REFUSED_NODES, WORDS_OF_NODES
from treaty.spark.planner.trees import TreeNode, is_plan, list_parts

ALLOWED_PLANS = frozenset(
    (
        "Project", "Filter", "Aggregate", "SubqueryAlias", "UnresolvedRelation", "UnresolvedWith", "UnresolvedInlineTable", "LocalRelation",
        "Join", "Union", "Generate", "LateralJoin", "UnresolvedHaving", "UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases",
        "UnresolvedTableValuedFunction", "UnresolvedEventTimeWatermark", "OneRowRelation", "Unpivot", "UnresolvedHint",
    )
)  # fmt: skip
ALLOWED_EXPRESSIONS = frozenset(
    (
        "Add", "AggregateExpression", "Alias", "And", "AnyValue", "AttributeReference", "Between", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
        "CaseWhen", "Cast", "Coalesce", "Collate", "Concat", "CreateArray", "CreateMap", "CreateNamedStruct", "CreateStruct",  "Divide",
        "EqualNullSafe", "EqualTo", "Exists", "Extract", "First", "GreaterThan", "GreaterThanOrEqual",  "ILike", "If", "In",
        "InSubquery", "IntegralDivide", "IsNotNull", "IsNull", "LambdaFunction", "Last", "LateralSubquery", "LessThan", "LessThanOrEqual",
        "Like", "LikeAll", "LikeAny", "ListQuery", "Literal", "MultiAlias", "Multiply", "NamePlaceholder", "NamedArgumentExpression", "Not", "NotLikeAll",
        "NotLikeAny", "Or", "Overlay", "PipeExpression", "PipeOperator", "RLike", "Remainder",  "ScalarSubquery",
        "SemiStructuredExtract", "ShiftLeft", "ShiftRight", "ShiftRightUnsigned", "SortOrder", "StringLocate", "StringTrim", "StringTrimBoth",
        "StringTrimLeft", "StringTrimRight", "Substring", "Subtract", "TimestampAdd", "TimestampDiff", "UnaryMinus", "UnaryPositive",
        "UnresolvedAlias", "UnresolvedAttribute", "UnresolvedCollation", "UnresolvedExtractValue", "UnresolvedFunction", "UnresolvedGenerator",
        "UnresolvedNamedLambdaVariable", "UnresolvedOrdinal", "UnresolvedStar", "UnresolvedStarExceptOrReplace", "UnresolvedSubqueryAlias",
    )
)  # fmt: skip
RELATION, WITH = "UnresolvedRelation", "UnresolvedWith"
_WIDTH = re.compile(r"%(?:%|[^%A-Za-z]*?([0-9]{1,19}))")
"""The width of a value in a text for format_string."""
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_UNITS: Mapping[str, int] = {
    "microsecond": 1, "millisecond": 1_000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000,
    "week": 604_800_000_000,
}  # fmt: skip
_DURATION = re.compile(rf"([0-9]{{1,18}})\s*({'|'.join(_UNITS)})", re.IGNORECASE)
HINTS = frozenset(("BROADCAST", "BROADCASTJOIN", "MAPJOIN"))
_BEFORE_SOURCES = frozenset(("FROM", "JOIN", "STREAM"))
NEAR = 0.75
"""How much a function that is not there must be like one that is, of 1."""
TIME_WORDS = ("now", "today", "tomorrow", "yesterday")
TIME_LITERALS = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"))


def check_parsed(tree: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """Raise `BodyRefusedError` for the first node or function that no query may have."""
    for count, node in enumerate(tree.walk()):
        _refuse_many_parts(count)
        _check_node(node, tokens)
        _check_windows(node, tokens)
    _refuse_many_parts(_count_written_out(tree))
    _check_words(tokens)
    _check_sizes(tree, tokens)


def _refuse_many_parts(count: int) -> None:
    if count > BODY_NODES:
        raise BodyRefusedError(
            "BODY_TOO_LARGE",
            f"the query has more than {BODY_NODES} parts (BODY_NODES), with what WITH defines as often as it is read",
            "several queries, each reading the one before",
        )


def _count_written_out(tree: TreeNode) -> int:
    """The parts of a body in which what WITH defines stands wherever it is read, and nowhere else, as Spark plans it."""
    sizes: dict[str, int] = {}

    def count(plan: TreeNode) -> int:
        waiting, size = [plan], 0
        while waiting:
            node = waiting.pop()
            size += sizes.get(str(node.members["multipartIdentifier"])[1:-1].lower(), 1) if node.kind == RELATION else 1
            waiting += node.children if node.kind == WITH else (*node.children, *node.list_inner())
        return size

    for node in reversed([*tree.walk()]):
        for name, plan in _list_definitions(node):
            sizes[name] = max(sizes.get(name, 0), min(count(plan), 2 * BODY_NODES))
    return count(tree)


def _check_windows(node: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """Raise for a hopping window with more than BODY_WINDOWS of them at a time: Spark plans each as a part of its own."""
    if node.kind != "UnresolvedFunction" or _function_name(node).lower() != "window" or len(node.children) < 3:
        return
    length, step = (_read_duration(str(one.members.get("value"))) for one in node.children[1:3])
    if step and length // step > BODY_WINDOWS:
        place = find_call(tokens, "window")
        raise BodyRefusedError(
            "BODY_TOO_LARGE",
            f"a row is in {length // step:,} windows, and in {BODY_WINDOWS:,} at most (BODY_WINDOWS)",
            "a larger step or a shorter window; or windows of the step alone, which a second query adds up",
            *((place.start, place.end) if place else (-1, -1)),
        )


def _read_duration(text: str) -> int:
    """Microseconds of a text such as ``1 hour 30 minutes``; 0 for what is none."""
    return sum(int(number) * _UNITS[unit.lower()] for number, unit in _DURATION.findall(text))


def _check_sizes(tree: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """Raise for numbers that make a text or an array larger than BODY_ELEMENTS: a constant is computed whole before anything runs."""
    sizes: dict[int, int] = {}
    for node in reversed([*tree.walk()]):
        below = [sizes[id(child)] for child in (*node.children, *node.list_inner())]
        name = _function_name(node).lower() if node.kind in _NAME_MEMBERS else ""
        size = math.prod(below) if name in LAMBDA_FUNCTIONS else max(below, default=1)
        count = _count_elements(name, node)
        sizes[id(node)] = size = max(size, count) if name in FILLED_FUNCTIONS else size * count
        if size > BODY_ELEMENTS:
            place = find_call(tokens, name)
            raise BodyRefusedError(
                "BODY_TOO_LARGE",
                f"{name} makes {size:,} characters or elements, and the numbers of a query may ask for {BODY_ELEMENTS:,} (BODY_ELEMENTS)",
                "a smaller number",
                *((place.start, place.end) if place else (-1, -1)),
            )


def _count_elements(name: str, node: TreeNode) -> int:
    """How many characters or elements a call asks for by a number that its text has; 1 for what has none."""
    numbers = [_read_number(one) for one in node.children]
    if name == "sequence" and len(numbers) > 1:
        first, last, step = numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1
        return 1 if first is None or last is None or not step else abs(last - first) // abs(step) + 1
    if name in FORMATS and node.children:
        return max(map(int, filter(None, _WIDTH.findall(str(node.children[0].members.get("value"))))), default=1)
    place = SIZED_FUNCTIONS.get(name, len(numbers))
    return max(1, numbers[place] or 1) if place < len(numbers) else 1


def _read_number(node: TreeNode) -> int | None:
    text = str(node.members.get("value", ""))
    return int(text) if node.kind == "Literal" and _WHOLE.fullmatch(text) else None


def list_relations(tree: TreeNode, tokens: Sequence[SqlToken]) -> tuple[str, ...]:
    """Return the names that a checked body reads and does not define itself by WITH, each once.

    Raises `BodyRefusedError` for a name with dots, which is a path or a table of another catalog.
    """
    own = {name for node in tree.walk() for name, _ in _list_definitions(node)}
    names: dict[str, str] = {}
    for node in tree.walk():
        if node.kind == RELATION:
            parts = list_parts(node.members.get("multipartIdentifier"))
            if len(parts) > 1:
                raise BodyRefusedError(
                    "READ_REFUSED",
                    f"{'.'.join(parts)} is no source: a query reads streams and tables of the metastore, and neither files nor catalogs",
                    "CREATE STREAM or TABLE with CONNECTOR = 'files' or 'delta' and PATH, and its name here",
                    *_find_name(tokens, parts),
                )
            if parts[0].lower() not in own:
                names.setdefault(parts[0].lower(), parts[0])
    return tuple(names.values())


def _find_name(tokens: Sequence[SqlToken], parts: Sequence[str]) -> tuple[int, int]:
    """The place of a name of several parts; -1 where it is written otherwise."""
    count = 2 * len(parts) - 1
    for at in range(len(tokens) - count):
        if [name_of_token(token) or token.text for token in tokens[at : at + count : 2]] == [*parts]:
            return tokens[at].start, tokens[at + count - 1].end
    return -1, -1


def _list_definitions(node: TreeNode) -> Iterator[tuple[str, TreeNode]]:
    """The names in small letters that WITH defines, with their queries."""
    if node.kind == WITH:
        for definition in node.members.get("cteRelations") or ():
            yield str(definition["_1"]).lower(), definition["_2"]


def _check_node(node: TreeNode, tokens: Sequence[SqlToken]) -> None:
    kind = node.kind
    if kind in REFUSED_NODES:
        code, message, hint = REFUSED_NODES[kind]
        raise BodyRefusedError(code, message, hint, *find_words(tokens, kind))
    if kind not in (ALLOWED_PLANS if is_plan(node) else ALLOWED_EXPRESSIONS):
        raise BodyRefusedError(
            "BODY_REFUSED",
            f"a query may not have {kind}",
            "SELECT, FROM, JOIN, WHERE, GROUP BY and UNION ALL, as the page on queries has them",
        )
    if kind == "UnresolvedWith" and node.members.get("allowRecursion"):
        raise BodyRefusedError(
            "BODY_REFUSED",
            "WITH RECURSIVE has no bound",
            "a query that reads the result of another one",
            *find_words(tokens, kind),
        )
    if kind == "UnresolvedHint" and str(node.members.get("name", "")).upper() not in HINTS:
        raise BodyRefusedError(
            "BODY_REFUSED", f"the hint {node.members.get('name')} is none of {', '.join(sorted(HINTS))}", "leave it out"
        )
    if kind in _NAME_MEMBERS:
        _check_function(node, _function_name(node), tokens)


_NAME_MEMBERS: Mapping[str, str] = {
    "UnresolvedFunction": "nameParts",
    "UnresolvedTableValuedFunction": "name",
    "UnresolvedGenerator": "name",
}
"""By kind of a call, the member with the name of the function."""


def _function_name(node: TreeNode) -> str:
    value = node.members.get(_NAME_MEMBERS[node.kind])
    if isinstance(value, dict):
        return ".".join(str(value[part]) for part in ("catalog", "database", "funcName") if value.get(part))
    return ".".join(list_parts(value))


def _check_function(node: TreeNode, name: str, tokens: Sequence[SqlToken]) -> None:
    lower = name.lower()
    if lower in REFUSED_FUNCTIONS:
        raise refuse_function(name, find_call(tokens, lower))
    allowed = ALLOWED_FUNCTIONS if node.kind == "UnresolvedFunction" else GENERATORS
    place = find_call(tokens, lower)
    start, end = (place.start, place.end) if place else (-1, -1)
    if lower not in allowed:
        reason = (
            "is no function of queries" if node.kind == "UnresolvedFunction" else "makes no rows that a query may read"
        )
        hint = _suggest_function(name) if lower not in ALLOWED_FUNCTIONS else "the function in SELECT"
        raise BodyRefusedError("FUNCTION_REFUSED", f"{name} {reason}", hint, start, end)
    if lower in TIMES_OF_AN_ARGUMENT and not node.children and not node.members.get("arguments"):
        message = f"{name}() without an argument is the time of the machine"
        raise BodyRefusedError("FUNCTION_REFUSED", message, f"{name} of a column", start, end)


def _suggest_function(name: str) -> str:
    """What to write instead of a function that Spark, or a query, does not have."""
    form = FUNCTION_FORMS.get(name.upper())
    if form:
        return form
    near = get_close_matches(name.lower(), sorted(ALLOWED_FUNCTIONS), 1, NEAR) if len(name) <= WORD_LENGTH else []
    listed = "the reference of queries lists the functions of Spark that a query may call"
    return f"did you mean {near[0]}? {listed}" if near else f"expressions and CASE; {listed}"


def refuse_foreign_forms(tokens: Sequence[SqlToken]) -> None:
    """Raise `BodyRefusedError` for what is written as in ksqlDB or Flink, and means something else to Spark, or nothing."""
    form = find_foreign_form(tokens, LAMBDA_FUNCTIONS)
    if form is not None:
        raise BodyRefusedError("BODY_REFUSED", *form)


def refuse_function(name: str, place: SqlToken | None) -> BodyRefusedError:
    """Return the refusal of a function of REFUSED_FUNCTIONS, with its place."""
    reason = REFUSED_FUNCTIONS[name.lower()]
    message = (
        f"{name} is refused: its result depends on {reason}, and a query that runs again has to come to the same rows"
    )
    start, end = (place.start, place.end) if place else (-1, -1)
    return BodyRefusedError("FUNCTION_REFUSED", message, "a column of the source", start, end)


def find_words(tokens: Sequence[SqlToken], kind: str) -> tuple[int, int]:
    """Return the place of the words that make a node of a kind; -1 where the body has none of them, or several."""
    places = []
    for words in WORDS_OF_NODES.get(kind, ()):
        keywords = words.split()
        count = len(keywords)
        for at in range(len(tokens) - count):
            if [token.keyword or token.text for token in tokens[at : at + count]] == keywords:
                places.append((tokens[at].start, tokens[at + count - 1].end))
    return places[0] if len(places) == 1 else (-1, -1)


def find_call(tokens: Sequence[SqlToken], name: str) -> SqlToken | None:
    """Return the first word with this name that a parenthesis follows, else the first word; None without one."""
    words = [(at, one) for at, one in enumerate(tokens) if name_of_token(one).lower() == name]
    calls = [one for at, one in words if tokens[at + 1].text == "("]
    return next(iter(calls or [one for _, one in words]), None)


def find_source(tokens: Sequence[SqlToken], name: str) -> tuple[int, int]:
    """Return the place of a source behind FROM, JOIN, STREAM or a comma; -1 where the body has none."""
    for at, token in enumerate(tokens[1:], 1):
        before = tokens[at - 1]
        if name_of_token(token).lower() == name.lower() and (before.keyword in _BEFORE_SOURCES or before.text == ","):
            return token.start, token.end
    return -1, -1


def name_of_token(token: SqlToken) -> str:
    """Return the name that a word says, without quotes; the empty string for anything else."""
    return read_quoted(token) if token.kind == "quoted" else token.text if token.kind == "word" else ""


def _check_words(tokens: Sequence[SqlToken]) -> None:
    """A second look, at the words: calls of refused functions, and times that mean the moment at which they are read."""
    for at, token in enumerate(tokens[:-1]):
        after = tokens[at + 1]
        name = name_of_token(token).lower()
        if name in REFUSED_FUNCTIONS and after.text == "(" and (at == 0 or tokens[at - 1].keyword != "AS"):
            raise refuse_function(name, token)
        if token.keyword in TIME_LITERALS and after.kind in {"text", "raw"} and is_relative_time(read_text(after)):
            raise BodyRefusedError(
                "FUNCTION_REFUSED",
                f"{token.text} {after.text} is the time of the machine",
                "a column, or a date that stays",
                token.start,
                after.end,
            )


def is_relative_time(text: str) -> bool:
    """Return whether Spark takes a text for a time that depends on the moment, such as ``now``."""
    return text.strip().lower().startswith(TIME_WORDS)
