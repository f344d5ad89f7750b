"""What is written twice, with and without ``await``, says the same: `Connection` and `AsyncConnection`."""

import ast
import inspect
from pathlib import Path

from treaty.client import aioconnection, connection


class Waiting(ast.NodeTransformer):
    """Makes ordinary code of asyncio's."""

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        members = {name: getattr(node, name) for name in node._fields}
        made = ast.FunctionDef(**members)
        made.name = made.name.replace("__aenter__", "__enter__").replace("__aexit__", "__exit__")
        return self.generic_visit(made)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self.generic_visit(node)
        return node.value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(node.id.replace("AsyncRegistry", "Registry"), node.ctx)


def methods(path: str, name: str) -> dict[str, str]:
    tree = Waiting().visit(ast.parse(Path(path).read_text("utf-8")))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.name: ast.dump(node) for node in found.body if isinstance(node, ast.FunctionDef)}


def test_both_connections_have_the_same_methods_and_these_say_the_same() -> None:
    plain = methods(inspect.getfile(connection), "Connection")
    waiting = methods(inspect.getfile(aioconnection), "AsyncConnection")
    assert len(plain) > 25
    assert waiting == plain
