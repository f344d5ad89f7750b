"""The key of a result: which columns that come out are those that its rows are grouped by, or the key of the table that is read."""

from collections.abc import Mapping, Sequence
from typing import Any

from treaty.spark.planner.questions import BodyRefusedError, ReadableSource
from treaty.spark.planner.trees import TreeNode

Signature = tuple[Any, ...]
"""An expression without its names and places: equal ones have equal values."""
_MEANING = ("value", "dataType", "ordinal", "name", "ignoreNulls", "isDistinct", "evalMode")
WINDOW_PARTS = ("start", "end")
"""Fields of a window, each of which says which one it is."""
_PASSED = frozenset(("Project", "Filter", "SubqueryAlias", "View", "EventTimeWatermark", "ResolvedHint"))


def find_group_key(tree: TreeNode, aggregate: TreeNode, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold the grouping expressions of an aggregate, in the order of GROUP BY.

    A window is there too where its start or end is: windows of one query have one length. Raises `BodyRefusedError` for a grouping expression that does
    not come out.
    """
    groups = _list_expressions(aggregate.members.get("groupingExpressions"))
    if not groups:
        raise BodyRefusedError(
            "KEY_MISSING", "an aggregate without GROUP BY has no key", "GROUP BY the columns that are the key"
        )
    outputs = _read_outputs(tree, aggregate, columns)
    names = []
    for group in groups:
        group_signature = _sign(group, {})
        own = [name for name, signature in outputs.items() if signature == group_signature]
        own += [
            name
            for name, signature in outputs.items()
            if signature in {("field", part, group_signature) for part in WINDOW_PARTS}
        ]
        if not own:
            text = _describe(group)
            raise BodyRefusedError(
                "KEY_MISSING",
                f"the query groups by {text}, and {text} does not come out: rows of two groups would be one",
                f"{text} in SELECT",
            )
        names.append(own[0])
    return tuple(names)


def find_table_key(tree: TreeNode, source: ReadableSource, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold the key of the table that is read. Raises `BodyRefusedError` where a column of it does not come out."""
    relation = next(one for one in tree.walk() if one.kind in {"LogicalRelation", "StreamingRelation"})
    ids = {str(one.members["name"]).lower(): one.expr_id for one in _list_expressions(relation.members.get("output"))}
    outputs = _read_outputs(tree, relation, columns)
    names = []
    for column in source.columns:
        if column.role != "key":
            continue
        own = [name for name, signature in outputs.items() if signature == ("column", ids[column.name.lower()])]
        if not own:
            raise BodyRefusedError(
                "KEY_MISSING",
                f"{column.name} is of the key of {source.name}, and does not come out: rows could not be deleted",
                f"{column.name} in SELECT",
            )
        names.append(own[0])
    if not names:
        raise BodyRefusedError("KEY_MISSING", f"{source.name} has no key", "a table with PRIMARY KEY")
    return tuple(names)


def _list_expressions(value: Any) -> list[TreeNode]:
    """The expressions of a member: Spark prints each as a list of its own."""
    if isinstance(value, TreeNode):
        return [value]
    return [node for one in value or () for node in _list_expressions(one)]


def _read_outputs(tree: TreeNode, bottom: TreeNode, columns: Sequence[str]) -> Mapping[str, Signature]:
    """By name of a column that comes out, the expression over the rows of `bottom` that it is; through projections alone."""
    path: list[TreeNode] = []
    node = tree
    while node is not bottom:
        if node.kind not in _PASSED or len(node.children) != 1:
            return {}
        path.append(node)
        node = node.children[0]
    signatures: dict[int, Signature] = {}
    steps = [bottom, *reversed(path)]
    last: list[TreeNode] = []
    for step in steps:
        listed = _list_expressions(
            step.members.get("aggregateExpressions" if step.kind == "Aggregate" else "projectList")
        )
        for expression in listed:
            if expression.expr_id >= 0:
                signatures[expression.expr_id] = _sign(expression, signatures)
        last = listed or last or _list_expressions(step.members.get("output"))
    return {name: _sign(expression, signatures) for name, expression in zip(columns, last, strict=False)}


def _sign(node: TreeNode, signatures: Mapping[int, Signature]) -> Signature:
    if node.kind == "Alias":
        return _sign(node.children[0], signatures)
    if node.kind == "AttributeReference":
        return signatures.get(node.expr_id, ("column", node.expr_id))
    inner = tuple(_sign(child, signatures) for child in node.children)
    if node.kind == "GetStructField" and node.members.get("name") in WINDOW_PARTS:
        return ("field", str(node.members["name"]), inner[0])
    members = tuple((name, repr(node.members[name])) for name in _MEANING if name in node.members)
    return (node.kind, members, inner)


def _describe(node: TreeNode) -> str:
    names = [str(one.members["name"]) for one in node.walk() if one.kind == "AttributeReference"]
    return (
        names[0]
        if names and not node.children
        else f"the expression over {', '.join(names)}"
        if names
        else "a constant"
    )
