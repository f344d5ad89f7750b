"""The simulation's model of the rules is written twice for a reason: it must not share a line of the law."""

import ast
from collections.abc import Iterator
from pathlib import Path

MODEL = Path(__file__).parents[1] / "simulation" / "judging" / "model"
PACKAGE = "tests.simulation.judging.model"
VALUES = frozenset(
    {"finding", "limits", "messages.api_keys", "messages.associations", "messages.compatibility", "messages.contexts", "messages.differences", "messages.encodings", "messages.groups", "messages.listings", "messages.metastore.deleted_topics", "messages.metastore.kept_files", "messages.metastore.plans", "messages.metastore.query_feed", "messages.metastore.runners", "messages.metastore.scripts", "messages.metastore.sources", "messages.names", "messages.outcomes", "messages.policies", "messages.registration", "messages.request", "messages.schemas", "messages.schemaver", "messages.search", "messages.settings", "messages.transfers", "messages.versions", "names", "policy.ForcedRegistration", "policy.Level", "policy.VersionRange", "refusals", "schema", "sources",
     "schema_engine", "state.codec", "state.commit", "state.rows", "state.state_tables", "state.table", "state.values"}
)  # fmt: skip
"""Modules of the core that say what there is (requests, answers, values, words), and nothing of what is right; of the one
on policies the values alone.
"""
NEIGHBOURS = frozenset({"tests.simulation.judging.broken", "tests.simulation.texts"})


def imported(file: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (f"{node.module}.{one.name}" for one in node.names)
            yield from (
                names
                if node.module
                in {
                    "treaty.core",
                    "treaty.core.access",
                    "treaty.core.messages",
                    "treaty.core.messages.metastore",
                    "treaty.core.policy",
                    "treaty.core.state",
                    PACKAGE,
                }
                else [node.module]
            )
        elif isinstance(node, ast.ImportFrom):
            yield "a relative import"


def is_allowed(name: str) -> bool:
    if name == "a relative import":
        return False
    if name.startswith("treaty"):
        return name.removeprefix("treaty.core.") in VALUES
    return not name.startswith("tests") or name.startswith(f"{PACKAGE}.") or name in NEIGHBOURS


def test_the_model_imports_nothing_of_the_law() -> None:
    files = sorted(MODEL.rglob("*.py"))
    strange = [f"{file.name}: {name}" for file in files for name in imported(file) if not is_allowed(name)]

    assert len(files) > 10
    assert not strange


def test_the_ban_knows_what_is_banned() -> None:
    law = ("handlers", "handlers.schema_ids", "decide", "operations", "access.permissions", "outcomes", "aliases", "access.authorized_view", "access.rights", "policy", "policy.LEVELS",
           "policy.word_of", "state.tables", "state.view", "state.overlay", "identity")  # fmt: skip

    assert not any(is_allowed(f"treaty.core.{name}") for name in law)
    assert not is_allowed("tests.laws.toy")
    assert not is_allowed("a relative import")


def test_nobody_who_judges_asks_the_law() -> None:
    judges = [MODEL.parent / "judge.py", MODEL.parents[1] / "history.py"]
    names = {name for file in judges for name in imported(file)}

    assert not {
        name
        for name in names
        if name.startswith(
            (
                "treaty.core.handlers",
                "treaty.core.decide",
                "treaty.core.operations",
                "treaty.core.declarations",
                "treaty.core.access.permissions",
            )
        )
    }


def test_the_model_of_the_iglu_resolver_imports_nothing_of_it() -> None:
    folder = MODEL.parents[1] / "iglu"
    names = {name for file in ("model.py", "histories.py") for name in imported(folder / file)}

    assert "tests.simulation.iglu.model" in names
    assert not {name for name in names if name.startswith(("treaty", "tests.scripted_iglu", "a relative"))}
