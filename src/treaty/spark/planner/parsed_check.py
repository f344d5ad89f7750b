"""The check of a parsed body, before Spark looks anything up: nodes and functions from lists, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence

from treaty.core.column_types.tokens import SqlToken, read_quoted, read_text
from treaty.core.limits import BODY_NODES
from treaty.spark.planner.functions import ALLOWED_FUNCTIONS, GENERATORS, REFUSED_FUNCTIONS, TIMES_OF_AN_ARGUMENT
from treaty.spark.planner.questions import BodyRefusedError
from treaty.spark.planner.refused_nodes import REFUSED_NODES
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
        "Add", "AggregateExpression", "Alias", "And", "AttributeReference", "Between", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
        "CaseWhen", "Cast", "Coalesce", "Collate", "Concat", "CreateArray", "CreateMap", "CreateNamedStruct", "CreateStruct",  "Divide",
        "EqualNullSafe", "EqualTo", "Exists", "Extract", "First", "GreaterThan", "GreaterThanOrEqual",  "ILike", "If", "In",
        "InSubquery", "IntegralDivide", "IsNotNull", "IsNull", "LambdaFunction", "Last", "LateralSubquery", "LessThan", "LessThanOrEqual",
        "Like", "LikeAll", "LikeAny", "ListQuery", "Literal", "MultiAlias", "Multiply", "NamedArgumentExpression", "Not", "NotLikeAll",
        "NotLikeAny", "Or", "Overlay", "PipeExpression", "PipeOperator", "RLike", "Remainder",  "ScalarSubquery",
        "SemiStructuredExtract", "ShiftLeft", "ShiftRight", "ShiftRightUnsigned", "SortOrder", "StringLocate", "StringTrim", "StringTrimBoth",
        "StringTrimLeft", "StringTrimRight", "Substring", "Subtract", "TimestampAdd", "TimestampDiff", "UnaryMinus", "UnaryPositive",
        "UnresolvedAlias", "UnresolvedAttribute", "UnresolvedCollation", "UnresolvedExtractValue", "UnresolvedFunction", "UnresolvedGenerator",
        "UnresolvedNamedLambdaVariable", "UnresolvedOrdinal", "UnresolvedStar", "UnresolvedStarExceptOrReplace", "UnresolvedSubqueryAlias",
    )
)  # fmt: skip
HINTS = frozenset(("BROADCAST", "BROADCASTJOIN", "MAPJOIN"))
TIME_WORDS = ("now", "today", "tomorrow", "yesterday")
TIME_LITERALS = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"))


def check_parsed(tree: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """Raise `BodyRefusedError` for the first node or function that no query may have."""
    for count, node in enumerate(tree.walk()):
        if count > BODY_NODES:
            raise BodyRefusedError(
                "BODY_TOO_LARGE",
                f"the query has more than {BODY_NODES} parts (BODY_NODES)",
                "several queries, each reading the one before",
            )
        _check_node(node, tokens)
    _check_words(tokens)


def list_relations(tree: TreeNode) -> tuple[str, ...]:
    """Return the names that a checked body reads and does not define itself by WITH, each once.

    Raises `BodyRefusedError` for a name with dots, which is a path or a table of another catalog.
    """
    own = {name.lower() for name in _list_cte_names(tree)}
    names: dict[str, str] = {}
    for node in tree.walk():
        if node.kind == "UnresolvedRelation":
            parts = list_parts(node.members.get("multipartIdentifier"))
            if len(parts) > 1:
                raise BodyRefusedError(
                    "READ_REFUSED",
                    f"{'.'.join(parts)} is no source: a query reads streams and tables of the metastore, and neither files nor catalogs",
                    "CREATE STREAM or TABLE with CONNECTOR = 'files' or 'delta' and PATH, and its name here",
                )
            if parts[0].lower() not in own:
                names.setdefault(parts[0].lower(), parts[0])
    return tuple(names.values())


def _list_cte_names(tree: TreeNode) -> Iterator[str]:
    for node in tree.walk():
        if node.kind == "UnresolvedWith":
            for one in node.members.get("cteRelations") or ():
                yield str(one.get("_1", ""))


def _check_node(node: TreeNode, tokens: Sequence[SqlToken]) -> None:
    kind = node.kind
    if kind in REFUSED_NODES:
        code, message, hint = REFUSED_NODES[kind]
        raise BodyRefusedError(code, message, hint)
    if kind not in (ALLOWED_PLANS if is_plan(node) else ALLOWED_EXPRESSIONS):
        raise BodyRefusedError("BODY_REFUSED", f"a query may not have {kind}", "what the page on queries lists")
    if kind == "UnresolvedWith" and node.members.get("allowRecursion"):
        raise BodyRefusedError(
            "BODY_REFUSED", "WITH RECURSIVE has no bound", "a query that reads the result of another one"
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
        raise _refuse_function(name, find_call(tokens, lower))
    allowed = ALLOWED_FUNCTIONS if node.kind == "UnresolvedFunction" else GENERATORS
    place = find_call(tokens, lower)
    start, end = (place.start, place.end) if place else (-1, -1)
    if lower not in allowed:
        known = (
            "is no function of queries" if node.kind == "UnresolvedFunction" else "makes no rows that a query may read"
        )
        hint = (
            "the functions that the page on queries lists"
            if lower not in ALLOWED_FUNCTIONS
            else "the function in SELECT"
        )
        raise BodyRefusedError("FUNCTION_REFUSED", f"{name} {known}", hint, start, end)
    if lower in TIMES_OF_AN_ARGUMENT and not node.children and not node.members.get("arguments"):
        message = f"{name}() without an argument is the time of the machine"
        raise BodyRefusedError("FUNCTION_REFUSED", message, f"{name} of a column", start, end)


def _refuse_function(name: str, place: SqlToken | None) -> BodyRefusedError:
    reason = REFUSED_FUNCTIONS[name.lower()]
    message = (
        f"{name} is refused: its result depends on {reason}, and a query that runs again has to come to the same rows"
    )
    start, end = (place.start, place.end) if place else (-1, -1)
    return BodyRefusedError("FUNCTION_REFUSED", message, "a column of the source", start, end)


def find_call(tokens: Sequence[SqlToken], name: str) -> SqlToken | None:
    """Return the first word with this name that a parenthesis follows, else the first word; None without one."""
    words = [(at, one) for at, one in enumerate(tokens) if name_of_token(one).lower() == name]
    calls = [one for at, one in words if tokens[at + 1].text == "("]
    return next(iter(calls or [one for _, one in words]), None)


def name_of_token(token: SqlToken) -> str:
    """Return the name that a word says, without quotes; the empty string for anything else."""
    return read_quoted(token) if token.kind == "quoted" else token.text if token.kind == "word" else ""


def _check_words(tokens: Sequence[SqlToken]) -> None:
    """A second look, at the words: calls of refused functions, and times that mean the moment at which they are read."""
    for at, token in enumerate(tokens[:-1]):
        after = tokens[at + 1]
        name = name_of_token(token).lower()
        if name in REFUSED_FUNCTIONS and after.text == "(" and (at == 0 or tokens[at - 1].keyword != "AS"):
            raise _refuse_function(name, token)
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
