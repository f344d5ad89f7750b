"""`treaty association` as a person uses it, on a file and over HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.served import served
from treaty.assemble import connect
from treaty.cli.main import group

Run = Callable[..., Result]


@pytest.fixture(params=["file", "http"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        url = f"sqlite://{tmp_path / 'log.db'}"
        connect(url).close()
        yield url
    else:
        with served("memory:") as running:
            yield running.url


@pytest.fixture
def run(registry: str) -> Run:
    def command(*words: str, stdin: str | None = None, code: int = 0) -> Result:
        line = ["association", *words]
        done = CliRunner().invoke(group, line, input=stdin, env={"TREATY_REGISTRY": registry})
        assert done.exit_code == code, done.output
        return done

    return command


ORDERS = ("--namespace", "lkc-1", "--id", "t-9")


def test_a_topic_is_bound_listed_changed_and_let_go(run: Run) -> None:
    schema = ("--schema", "-")
    dry = run("create", "orders", "order", *ORDERS, *schema, "--dry-run", stdin='"int"').output
    assert "The value of orders would be associated with order (WEAK)." in dry
    assert run("list").stdout == ""

    done = run("create", "orders", "order", *ORDERS, "--lifecycle", "strong", *schema, stdin='"int"').output
    assert "is now associated with order (STRONG)" in done
    assert "version 1, id 1" in done
    told = json.loads(run("create", "orders", "key", *ORDERS, "--kind", "key", *schema, "--json", stdin='"int"').stdout)
    assert told["associations"][0]["schema"]["subject"] == "key"

    line = "lkc-1 orders value: order (STRONG; id t-9)\n"
    assert run("list", "order").stdout == line
    assert run("list", "--topic", "orders", "--kind", "value").stdout == line
    assert run("list", "--id", "t-9", "--lifecycle", "STRONG").stdout == line
    assert run("list", "--namespace", "lkc-1").stdout == "lkc-1 orders key: key (WEAK; id t-9)\n" + line
    assert run("list", "--namespace", "other").stdout == ""
    (one,) = json.loads(run("list", "order", "--json").stdout)
    assert (one["resourceName"], one["lifecycle"], one["frozen"]) == ("orders", "STRONG", False)

    assert "(STRONG, frozen)" in run("create", "orders", "order", *ORDERS, "--frozen", "--update").output
    assert "frozen" in run("delete", "t-9", "--yes", code=1).output
    assert "Deleted: lkc-1 orders key: key" in run("delete", "t-9", "--kind", "key", "--yes").output
    assert "Would delete: " in run("delete", "t-9", "--cascade", "--dry-run").output
    assert "id t-9), with its subject" in run("delete", "t-9", "--cascade", "--yes").output
    assert run("list").stdout == ""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("create", "orders", "none", *ORDERS), 1, "No active (non-deleted) version exists for subject 'none'"),
        (("create", "orders", "none", "--id", "x"), 2, "--namespace"),
        (("create", "orders", "none", *ORDERS, "--frozen", "--lifecycle", "WEAK"), 1, "cannot be frozen"),
        (("delete", "none", "--yes"), 1, "Association for 'none' not found."),
        (("delete", "none"), 1, "Association for 'none' not found."),
        (("list", "s", "--topic", "t"), 2, "give a subject, a topic"),
    ],
    ids=["no version", "no namespace", "weak", "absent", "unsure", "two places"],
)
def test_what_is_wrong_is_told(run: Run, words: tuple[str, ...], code: int, told: str) -> None:
    assert told in run(*words, code=code).output
