"""`treaty plan` and `treaty apply`: a folder becomes what a registry has, in order, or nothing happens."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.schema import Reference

Run = Callable[..., Result]


def record(name: str, *fields: tuple[str, Any], namespace: str = "org.acme") -> str:
    members = [{"name": one, "type": kind} for one, kind in fields]
    return json.dumps({"type": "record", "name": name, "namespace": namespace, "fields": members})


@pytest.fixture
def registry(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'log.db'}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An order that needs money; the files stand in the other order."""
    made = tmp_path / "schemas"
    (made / "types").mkdir(parents=True)
    (made / "an-order.avsc").write_text(record("Order", ("price", "org.acme.Money")), "utf-8")
    (made / "types" / "money.avsc").write_text(record("Money", ("cents", "long")), "utf-8")
    (made / "README.md").write_text("no schema", "utf-8")
    return made


@pytest.fixture
def run(registry: str) -> Run:
    def command(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": registry})
        assert done.exit_code == code, done.output
        return done

    return command


def test_a_plan_writes_nothing_and_apply_does_it_once(run: Run, folder: Path, registry: str) -> None:
    planned = json.loads(run("plan", str(folder), "--json").stdout)
    with connect(registry) as found:
        assert found.subjects() == ()
    first = json.loads(run("apply", str(folder), "--json").stdout)
    again = run("apply", str(folder))

    assert planned["changes"] == first["changes"]
    assert [(one["subject"], one["change"]) for one in first["changes"]] == [
        ("money", "new subject"),
        ("an-order", "new subject"),
    ]
    assert "2 unchanged" in again.output
    with connect(registry) as found:
        assert found.version("an-order").references == (Reference("org.acme.Money", "money", 1),)


def test_a_new_version_of_what_is_needed_is_used_by_those_who_need_it(run: Run, folder: Path, registry: str) -> None:
    run("apply", str(folder))
    wider = record("Money", ("cents", "long"), ("currency", {"type": "string"})).replace(
        '"type": {"type": "string"}', '"type": "string", "default": "EUR"'
    )
    (folder / "types" / "money.avsc").write_text(wider, "utf-8")
    done = json.loads(run("apply", str(folder), "--json").stdout)

    assert [(one["subject"], one["change"], one["version"]) for one in done["changes"]] == [
        ("money", "new version", 2),
        ("an-order", "new version", 2),
    ]
    with connect(registry) as found:
        assert found.version("an-order").references == (Reference("org.acme.Money", "money", 2),)


def test_one_refusal_leaves_everything_as_it_was(run: Run, folder: Path, registry: str) -> None:
    run("apply", str(folder))
    (folder / "types" / "money.avsc").write_text(record("Money", ("cents", "string")), "utf-8")
    (folder / "more.avsc").write_text('{"type": "enum", "name": "More", "symbols": ["A"]}', "utf-8")
    done = run("apply", str(folder), code=1)

    assert "TYPE_MISMATCH" in done.output
    assert "Nothing is written" in done.output
    with connect(registry) as found:
        assert found.subjects() == ("an-order", "money")
        assert found.versions("money") == (1,)


def test_settings_of_the_folder(run: Run, folder: Path, registry: str) -> None:
    (folder / "treaty.toml").write_text(
        """
        [plan]
        context = "prod"
        level = "full"
        ignore = ["types/*"]
        [plan.subjects.order-value]
        file = "an-order.avsc"
        level = "NONE"
        references = { "org.acme.Money" = "cash" }
        properties = { owner = "us" }
        [plan.subjects.cash]
        file = "types/money.avsc"
        """,
        "utf-8",
    )
    with connect(registry) as found:
        found.register(":.prod:cash", record("Money", ("cents", "long")))
    done = run("apply", str(folder))

    assert "level: NONE (before: not set)" in done.output
    with connect(registry) as found:
        assert found.subjects() == (":.prod:cash", ":.prod:order-value")
        assert (found.config(":.prod:order-value").level, found.config(":.prod:cash").level) == ("NONE", "FULL")
        assert found.version(":.prod:order-value").references == (Reference("org.acme.Money", "cash", 1),)


@pytest.mark.parametrize(
    ("file", "text", "code", "told"),
    [
        ("lost.avsc", record("Lost", ("x", "org.acme.Nowhere")), 1, "needs 'org.acme.Nowhere'"),
        ("bad.avsc", "{", 1, "not a valid schema"),
        ("types/an-order.avsc", record("Other", ("x", "int")), 2, "are both an-order"),
        ("treaty.toml", "[plan]\nlevle = 'FULL'", 2, "levle"),
        ("treaty.toml", "[plan]\nlevel = 'SOME'", 2, "unknown level 'SOME'"),
        ("treaty.toml", "[plan.subjects.x]\nfile = 'gone.avsc'", 2, "gone.avsc cannot be read"),
    ],
    ids=["lost name", "no schema", "one subject twice", "member", "level", "no file"],
)
def test_what_is_wrong_in_a_folder_is_told(
    run: Run, folder: Path, registry: str, file: str, text: str, code: int, told: str
) -> None:
    (folder / file).write_text(text, "utf-8")

    assert told in run("apply", str(folder), code=code).output
    with connect(registry) as found:
        assert found.subjects() == ()


def test_two_files_that_need_each_other_are_told(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "circle"
    made.mkdir()
    (made / "a.avsc").write_text(record("A", ("b", "org.acme.B")), "utf-8")
    (made / "b.avsc").write_text(record("B", ("a", "org.acme.A")), "utf-8")

    assert "org.acme.B" in run("plan", str(made), code=1).output
