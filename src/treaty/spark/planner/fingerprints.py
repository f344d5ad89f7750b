"""The fingerprint of the state of a query: digests of the canonical plan up to and including its topmost stateful operator.

Spark takes an old checkpoint for a new body whose filter, key, argument or window below a stateful operator is another one, and gives
wrong rows. So all that lies below counts: as canonical text, and as canonical JSON, in which texts and numbers have their types.

Both are the same for `array('a,b')` and `array('a', 'b')`, as for some sets of IN and patterns of LIKE ANY; bytes are there by their place in
memory, and the rows of VALUES not at all. Where a plan has such values, they count as texts of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from treaty.core.sources import StateFingerprint
from treaty.spark.planner.trees import PLANS, TreeNode, read_tree

STATEFUL = frozenset(
    ("Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Distinct", "GlobalLimit", "FlatMapGroupsWithState")
)
"""Operators that keep state where they stand over a stream; a join does where both its sides are streams."""
_SET, _ROWS, _LITERAL = "InSet", "LocalRelation", "Literal"
_PATTERNS = frozenset(("LikeAll", "NotLikeAll", "LikeAny", "NotLikeAny"))
_UNPRINTED = frozenset((_SET, _ROWS, *_PATTERNS))
"""Nodes with values that are not whole in their text and their JSON, besides constants with parts."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SESSION = re.compile(r"org\.apache\.spark\.sql\.[A-Za-z.]*SparkSession@[0-9a-f]+")
_BYTES = re.compile(r"\[B@[0-9a-f]+")
_TRIED = re.compile(r"\btry_")
"""What an analyzed plan has where an error becomes null. The optimized one prints try_add as +, so then what each expression is made of counts too."""
_IDS = frozenset(("jvmId", "nodeId", "dataSource", "sourceName", "session", "resultId"))
"""Members that are another one in each session, or of the place of the empty files."""


def fingerprint(analyzed: Any, plan: Any, root: str) -> StateFingerprint:
    """Return the fingerprint of a plan of the JVM, analyzed and optimized; `root` is the folder of the empty views."""
    plan = select_stateful(plan)
    if plan is None:
        return StateFingerprint()
    canonical = plan.canonicalized()
    top = read_tree(canonical.toJSON())
    parts = _list_group_parts(canonical, top) if top.kind == "Aggregate" else [canonical]
    texts = [cut_ids(part.toString(), root) for part in parts]
    if _TRIED.search(analyzed.toString()):
        texts += [cut_ids(text, root) for part in parts for text in _list_expression_parts(part)]
    listed = [json.loads(part.toJSON()) for part in parts]
    if has_unprinted(listed):
        texts += [text for part in parts for text in list_unprinted(part)]
    nodes = [_strip(one) for one in listed]
    types = json.dumps(sorted(_list_types(nodes)))
    return StateFingerprint(_digest(json.dumps([texts, nodes], sort_keys=True)), _digest(types))


def select_stateful(plan: Any) -> Any | None:
    """Return the topmost stateful operator of an optimized plan of the JVM, or what joins several; None without one."""
    path = find_stateful(read_tree(plan.toJSON()))
    for place in path or ():
        plan = plan.children().apply(place)
    return None if path is None else plan


def _list_group_parts(plan: Any, tree: TreeNode) -> list[Any]:
    """What of an aggregate its state is made of: the groups, the functions in their order, and the plan below.

    What a query makes of the results of the functions is above the state.
    """
    parts = [plan.child()]
    parts += [plan.groupingExpressions().apply(place) for place in range(plan.groupingExpressions().size())]
    texts: set[str] = set()
    for place, expression in enumerate(tree.members["aggregateExpressions"]):
        for path in find_functions(expression):
            part = plan.aggregateExpressions().apply(place)
            for step in path:
                part = part.children().apply(step)
            if (text := part.toJSON() + part.toString()) not in texts:
                texts.add(text)
                parts.append(part)
    return parts


def find_functions(tree: TreeNode, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield the paths to the aggregate functions of an expression, as places of children, from left to right."""
    if tree.kind == "AggregateExpression":
        yield path
        return
    for place, child in enumerate(tree.children):
        yield from find_functions(child, (*path, place))


def _list_expression_parts(part: Any) -> Iterator[str]:
    """Yield what each expression of a plan or an expression of the JVM is made of, as text: also its mode, which neither text nor JSON have."""
    for node in walk_jvm(part):
        name = str(node.getClass().getName())
        if not any(package in name for package in PLANS):
            yield f"{name}({node.productIterator().mkString(', ')})"


def has_unprinted(value: Any) -> bool:
    """Return whether the JSON of plans has a node with such values."""
    if isinstance(value, list):
        return any(map(has_unprinted, value))
    if not isinstance(value, Mapping):
        return False
    kind = _kind_of(value.get("class", ""))
    return kind in _UNPRINTED or is_ambiguous(value) or any(map(has_unprinted, value.values()))


def is_ambiguous(node: Mapping[str, Any]) -> bool:
    """Return whether a node of JSON is a constant of bytes, or with parts."""
    if _kind_of(node.get("class", "")) != _LITERAL:
        return False
    kind = node.get("dataType")
    return kind == "binary" or isinstance(kind, Mapping)


def list_unprinted(part: Any) -> Iterator[str]:
    """Yield such values of a plan or an expression of the JVM, each as a text that no other value has."""
    for node in walk_jvm(part):
        kind = _kind_of(node.getClass().getName())
        if kind == _SET or (
            kind == _LITERAL and is_ambiguous({"class": kind, "dataType": json.loads(node.dataType().json())})
        ):
            yield f"{kind} {node.sql()}"
        elif kind in _PATTERNS:
            patterns = node.patterns()
            texts = [patterns.apply(place) for place in range(patterns.size())]
            yield f"{kind} {json.dumps([None if one is None else str(one.toString()) for one in texts])}"
        elif kind == _ROWS and not node.data().isEmpty():
            yield f"{kind} {node.toSQL('rows')}"


def walk_jvm(part: Any) -> Iterator[Any]:
    """Yield a plan or an expression of the JVM and all plans and expressions below and inside of it."""
    waiting = [part]
    while waiting:
        node = waiting.pop()
        yield node
        below = [node.children(), node.innerChildren()]
        if any(package in str(node.getClass().getName()) for package in PLANS):
            below.append(node.expressions())
        waiting += [listed.apply(place) for listed in below for place in range(listed.size())]


def _kind_of(class_name: Any) -> str:
    return str(class_name).rsplit(".", 1)[-1]


def cut_ids(text: str, root: str) -> str:
    """Return the text of a plan without ids of nodes and sessions, and without the folder of the empty views.

    Only ids outside of literals are in this text where it matters: the JSON and what is unprinted beside it have the literals whole.
    """
    return _SESSION.sub("session", _BYTES.sub("bytes", _UUID.sub("id", text.replace(root, ""))))


def find_stateful(tree: TreeNode) -> tuple[int, ...] | None:
    """Return the path to the topmost stateful operator, or to the union or join of several, as places of children; None without one."""
    path: tuple[int, ...] = ()
    node = tree
    while True:
        if _is_stateful(node):
            return path
        below = [place for place, child in enumerate(node.children) if _has_state(child)]
        if not below:
            return None
        if len(below) > 1:
            return path
        path = (*path, below[0])
        node = node.children[below[0]]


def _has_state(tree: TreeNode) -> bool:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _is_stateful(node):
            return True
        waiting += node.children
    return False


def _is_stateful(node: TreeNode) -> bool:
    if node.kind == "Join":
        return all(map(_is_streaming, node.children))
    return node.kind in STATEFUL and _is_streaming(node)


def _is_streaming(tree: TreeNode) -> bool:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.kind == "StreamingRelation":
            return True
        waiting += node.children
    return False


def _strip(value: Any) -> Any:
    """JSON of a plan without members that are another one in each session."""
    if isinstance(value, list):
        return [_strip(one) for one in value]
    if isinstance(value, Mapping):
        left = _IDS | {"value"} if is_ambiguous(value) else _IDS
        return {name: _strip(one) for name, one in value.items() if name not in left}
    return value


def _list_types(nodes: list[Any]) -> set[str]:
    """The types of the columns that go through the operators of a canonical plan: what their stores are made of."""
    types: set[str] = set()
    waiting: list[Any] = [*nodes]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, Mapping):
            if str(value.get("class", "")).endswith("AttributeReference"):
                place = value["exprId"].get("id")
                types.add(f"{place} {json.dumps(value.get('dataType'))} {value.get('nullable')}")
            waiting += [one for name, one in value.items() if name != "output"]
    return types


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]
