"""Makes the page of what the planner takes for granted about Spark: the sentences are those of the tests; `make.py` writes it."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests" / "real" / "test_spark_claims.py"
HEAD = """# What the planner takes for granted about Spark

Each sentence is one of Spark 4.1.1, and has its test in `tests/real/test_spark_claims.py`. On another Spark run `.venv/bin/python -m pytest tests/real/test_spark_claims.py`: what fails is
what has to be thought about again.

| claim | test |
|---|---|"""


def page() -> str:
    """Return the page."""
    tree = ast.parse(TESTS.read_text(encoding="utf-8"))
    tests = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
    rows = [f"| {ast.get_docstring(one)} | `{one.name.removeprefix('test_')}` |" for one in tests]
    return "\n".join((HEAD, *rows)) + "\n"
