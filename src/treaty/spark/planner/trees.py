"""Plans of Spark as trees of Python values: one call of the JVM gives a whole plan as JSON, with the expressions and plans inside of it.

`TreeNode.toJSON` lists the nodes of a tree in pre-order, each with the number of its children; members that are trees themselves are
such lists again. A member that Spark can't print is null, so what is checked is the class of a node, never its missing members.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

PLANS = ("plans.logical.", "execution.")
"""What the class of a plan, and of no expression, has in its name, besides the relations of `analysis`."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a plan or of an expression: the last part of its class, all of it, its members, and its children."""

    kind: str
    class_name: str
    members: Mapping[str, Any]
    children: tuple["TreeNode", ...]

    def walk(self) -> Iterator["TreeNode"]:
        """List this node and everything below and inside of it, the plans of subqueries too, each before what is below it."""
        waiting: list[TreeNode] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed([*node.children, *node.list_inner()])

    def list_inner(self) -> Iterator["TreeNode"]:
        """List the trees that are members of this node."""
        for value in self.members.values():
            yield from _list_trees(value)

    def has(self, kind: str) -> bool:
        """Return whether a node of this kind is here or below."""
        return any(node.kind == kind for node in self.walk())

    @property
    def expr_id(self) -> int:
        """The id of a named expression; -1 without one."""
        value = self.members.get("exprId")
        return int(value["id"]) if isinstance(value, dict) and "id" in value else -1


def read_tree(text: str) -> TreeNode:
    """Return the tree of a text of `TreeNode.toJSON`."""
    tree = _read_value(json.loads(text))
    assert isinstance(tree, TreeNode), "a text of toJSON is one tree"
    return tree


def read_analyzed(frame: DataFrame) -> TreeNode:
    """Return the tree of the analyzed plan of a frame."""
    return read_tree(frame._jdf.queryExecution().analyzed().toJSON())  # noqa: SLF001 (pyspark does not show plans)


def _list_trees(value: Any) -> Iterator[TreeNode]:
    if isinstance(value, TreeNode):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _list_trees(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _list_trees(item)


def _read_value(value: Any) -> Any:
    """A list of nodes as a tree, anything else with the trees inside of it."""
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and "class" in one and "num-children" in one for one in value):
            trees = _read_nodes(value)
            return trees[0] if len(trees) == 1 else trees
        return [_read_value(one) for one in value]
    if isinstance(value, dict):
        return {name: _read_value(one) for name, one in value.items()}
    return value


def _read_nodes(listed: list[dict[str, Any]]) -> list[TreeNode]:
    """The trees of a list in pre-order, read from its end: the children of a node are the trees after it."""
    trees: list[TreeNode] = []
    for entry in reversed(listed):
        count = int(entry["num-children"])
        children = tuple(reversed(trees[len(trees) - count :])) if count else ()
        del trees[len(trees) - count :]
        name = str(entry["class"])
        members = {key: _read_value(value) for key, value in entry.items() if key not in {"class", "num-children"}}
        trees.append(TreeNode(name.rsplit(".", 1)[-1].rstrip("$"), name, members, children))
    trees.reverse()
    return trees


def is_plan(node: TreeNode) -> bool:
    """Return whether a node is a plan, and no expression."""
    return any(part in node.class_name for part in PLANS) or node.kind in RELATIONS


RELATIONS = frozenset(
    (
        "UnresolvedRelation", "UnresolvedInlineTable", "UnresolvedTableValuedFunction", "UnresolvedSubqueryColumnAliases", "UnresolvedHaving",
        "UnresolvedEventTimeWatermark", "UnresolvedTVFAliases", "RelationTimeTravel", "PlanWithUnresolvedIdentifier",
    )
)  # fmt: skip
"""Plans whose classes lie among those of the analyzer."""


def list_plans(root: TreeNode, *, subqueries: bool = True) -> Iterator[TreeNode]:
    """List the plans of a tree, those of subqueries too unless `subqueries` is false."""
    if subqueries:
        yield from (node for node in root.walk() if is_plan(node))
        return
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def find_node(root: TreeNode, is_match: Callable[[TreeNode], bool]) -> TreeNode | None:
    """Return the first node for which `is_match` holds, in pre-order."""
    return next((node for node in root.walk() if is_match(node)), None)


def list_parts(text: Any) -> tuple[str, ...]:
    """Return the parts of a name as Spark prints them: ``[a, b]``; a part with a comma in it counts as several."""
    inner = str(text)
    return tuple(part.strip() for part in inner[1:-1].split(",")) if inner.startswith("[") else (inner,)
