"""Mutations of one file: those of mutmut for comparisons, conditions, arguments and constants, and own ones for statements.

A mutation is a small mistake, as a person makes it: an edge that is off by one, half of a condition forgotten, an argument left out, a check
or a call forgotten, a statement after the `await` that it belongs before.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst
from mutmut.mutation import mutators

KINDS = ("comparison", "condition", "argument", "constant", "statement", "await")
WORD = 24
"""The longest string that counts as a constant; longer ones, and those with a space, are texts for people."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One node of a file and what stands in its place. `path` are the classes and the outermost function around it."""

    kind: str
    path: str
    old: cst.CSTNode
    new: cst.CSTNode


def find_mutations(module: cst.Module) -> Iterator[Mutation]:
    """All mutations in functions of a file, in the order of its text."""
    yield from _inside(module, "", in_function=False)


def _inside(node: cst.CSTNode, path: str, *, in_function: bool) -> Iterator[Mutation]:
    if isinstance(node, cst.Annotation | cst.Decorator | cst.Parameters):
        return
    if isinstance(node, cst.ClassDef | cst.FunctionDef) and not in_function:
        path = f"{path}.{node.name.value}" if path else node.name.value
        in_function = isinstance(node, cst.FunctionDef)
    if in_function:
        for kind, mutate in MUTATORS:
            for old, new in mutate(node):
                yield Mutation(kind, path, old, new)
    for child in node.children:
        yield from _inside(child, path, in_function=in_function)


_EMPTY = cst.Module([])
Pairs = Iterable[tuple[cst.CSTNode, cst.CSTNode]]


def _comparisons(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.ComparisonTarget):
        for new in mutators.operator_swap_op(node):
            yield node, new
        for operator in mutators.operator_keywords(node.operator):
            yield node, node.with_changes(operator=operator)


def _conditions(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.BooleanOperation):
        for new in (*mutators.operator_swap_op(node), node.left, node.right):
            yield node, new
    elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        for new in mutators.operator_remove_unary_ops(node):
            yield node, new
    elif isinstance(node, cst.IfExp):
        for branch in (node.body, node.orelse):
            yield node, branch
    elif isinstance(node, cst.CompIf):
        yield node.test, cst.Name("True")


def _arguments(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.Call):
        for new in mutators.operator_arg_removal(node):
            yield node, new


def _constants(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.Integer | cst.Float):
        for new in mutators.operator_number(node):
            yield node, new
    elif isinstance(node, cst.Name):
        for name in mutators.operator_name(node):
            yield node, name
    elif isinstance(node, cst.SimpleString) and " " not in node.value and 2 < len(node.value) <= WORD:
        for text in [*mutators.operator_string(node)][:1]:
            yield node, text
    elif isinstance(node, cst.BinaryOperation):
        for swapped in mutators.operator_swap_op(node):
            yield node, swapped


def _statements(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.IndentedBlock):
        for one in node.body:
            if _is_effect(one) or _is_guard(one):
                yield one, cst.SimpleStatementLine([cst.Pass()])


def _awaits(node: cst.CSTNode) -> Pairs:
    if isinstance(node, cst.IndentedBlock):
        for at, (one, after) in enumerate(zip(node.body, node.body[1:], strict=False)):
            if (
                _is_effect(one)
                and not _has_await(one)
                and isinstance(after, cst.SimpleStatementLine)
                and _has_await(after)
            ):
                yield node, node.with_changes(body=[*node.body[:at], after, one, *node.body[at + 2 :]])


MUTATORS: tuple[tuple[str, Callable[[cst.CSTNode], Pairs]], ...] = (
    ("comparison", _comparisons),
    ("condition", _conditions),
    ("argument", _arguments),
    ("constant", _constants),
    ("statement", _statements),
    ("await", _awaits),
)


def _is_effect(node: cst.CSTNode) -> bool:
    """Whether a statement is done for its effect: without it all names that later statements use are there still."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    one = node.body[0]
    if isinstance(one, cst.Expr):
        return not isinstance(one.value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis)
    if isinstance(one, cst.Assign):
        return all(isinstance(each.target, cst.Attribute | cst.Subscript) for each in one.targets)
    return isinstance(one, cst.AugAssign | cst.Raise | cst.Del | cst.Break | cst.Continue)


def _is_guard(node: cst.CSTNode) -> bool:
    """Whether a statement is a check that ends the function, or the round of a loop, and does nothing else."""
    if not isinstance(node, cst.If) or node.orelse is not None or not isinstance(node.body, cst.IndentedBlock):
        return False
    last = node.body.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(
        last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break
    )


def _has_await(node: cst.CSTNode) -> bool:
    return "await " in _EMPTY.code_for_node(node)
