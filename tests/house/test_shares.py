"""The tests of which a run has a share, and those that are known to be slow, are there: after a renaming all of them would run."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.shares import ALWAYS, FILE_SHARES, SHARES, WHOLE_IN_SOAK
from tests.slow import SLOW

ROOT = Path(__file__).parents[2]


def is_there(name: str) -> bool:
    file, _, test = name.partition("::")
    return any(f"def {test}(" in text for text in texts().get(file, ()))


@cache
def texts() -> dict[str, list[str]]:
    """The texts of all files with tests, by their folder and name."""
    found: dict[str, list[str]] = {}
    for path in (*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("plugins/*/tests/test_*.py")):
        found.setdefault(f"{path.parent.name}/{path.stem}", []).append(path.read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", [*SHARES, *sorted(ALWAYS)])
def test_a_test_with_a_share_is_there(name: str) -> None:
    assert is_there(name)


@pytest.mark.parametrize("name", WHOLE_IN_SOAK)
def test_a_test_of_the_soak_alone_is_there_and_a_run_has_one_that_walks_its_path(name: str) -> None:
    assert is_there(name)
    assert is_there(WHOLE_IN_SOAK[name])
    assert WHOLE_IN_SOAK[name] not in WHOLE_IN_SOAK


def test_files_with_a_share_are_there() -> None:
    assert not FILE_SHARES.keys() - texts().keys()


def test_tests_that_are_known_to_be_slow_are_there() -> None:
    assert not [name for name in sorted(SLOW) if not is_there(name)]


def test_no_name_of_a_test_has_a_set() -> None:
    """Sets have another order in each process, so that workers would collect different tests and run none."""
    assert not [
        f"{name}: {call.lineno}"
        for name, sources in texts().items()
        for source in sources
        if "ids=str" in source or "ids=repr" in source
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and _prints_values(call) and _has_set(call)
    ]


def _prints_values(call: ast.Call) -> bool:
    """Whether the values of parameters are printed as names of tests."""
    return any(
        keyword.arg == "ids" and isinstance(keyword.value, ast.Name) and keyword.value.id in {"str", "repr"}
        for keyword in call.keywords
    )


def _has_set(call: ast.Call) -> bool:
    """Whether a set is among the values, and not only compared with one."""
    compared = {
        id(operand)
        for node in ast.walk(call)
        if isinstance(node, ast.Compare | ast.BinOp)
        for operand in ast.iter_child_nodes(node)
    }
    return any(_is_set(node) and id(node) not in compared for node in ast.walk(call))


def _is_set(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"set", "frozenset"}
    return is_call or isinstance(node, ast.Set | ast.SetComp)
