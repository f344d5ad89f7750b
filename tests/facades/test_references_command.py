"""References of schema files on the command line: named one by one, or found in folders."""

import json
from pathlib import Path

import pytest

from tests.commands import run
from tests.facades.shouting import offer

MONEY = '{"type":"fixed","name":"org.acme.Money","size":8}'
PRICE = '{"type":"record","name":"org.acme.Price","fields":[{"name":"m","type":"org.acme.Money"}]}'
ORDER = (
    '{"type":"record","name":"org.acme.Order","fields":'
    '[{"name":"p","type":"org.acme.Price"},{"name":"m","type":"org.acme.Money"}]}'
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    work = tmp_path / "work"
    (work / "schemas" / "org" / "acme").mkdir(parents=True)
    (work / "schemas" / "org" / "acme" / "Money.avsc").write_text(MONEY)
    (work / "schemas" / "org.acme.Price.avsc").write_text(PRICE)
    (work / "order.avsc").write_text(ORDER)
    monkeypatch.chdir(work)
    return work


def test_names_are_looked_for_in_a_folder_and_what_they_need_too() -> None:
    alone = run("canonical", "order.avsc")
    found = run("canonical", "order.avsc", "--reference-folder", "schemas", "--view", "resolved")

    assert alone.exit_code == 2
    assert "NAME_UNDEFINED" in alone.stderr
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["fields"][0]["type"]["fields"][0]["type"]["size"] == 8


def test_both_schemas_of_a_comparison_and_a_named_reference_are_completed() -> None:
    Path("mine.avsc").write_text(PRICE)
    words = ["--reference", "org.acme.Price=mine.avsc", "--reference-folder", "schemas"]
    result = run("check", "order.avsc", "-", *words, stdin=ORDER.replace("]}", ',{"name":"n","type":"int"}]}'))

    assert result.exit_code == 1, result.output
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in result.stdout


def test_the_guid_has_the_references_that_were_found() -> None:
    told = json.loads(run("fingerprint", "order.avsc", "--reference-folder", "schemas", "--json").stdout)

    assert [one["name"] for one in told["references"]] == ["org.acme.Price", "org.acme.Money"]


def bound(*words: str, stdin: str = "") -> list[str]:
    result = run("fingerprint", *words, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return [one["name"] for one in json.loads(result.stdout)["references"]]


def test_a_circle_of_files_ends(folder: Path) -> None:
    (folder / "schemas" / "A.avsc").write_text('{"type":"record","name":"A","fields":[{"name":"b","type":"B"}]}')
    (folder / "schemas" / "B.avsc").write_text('{"type":"record","name":"B","fields":[{"name":"a","type":"A"}]}')
    text = '{"type":"record","name":"C","fields":[{"name":"a","type":"A"}]}'
    result = run("canonical", "-", "--reference-folder", "schemas", stdin=text)

    assert result.exit_code == 2, result.output
    assert "NAME_" in result.stderr


def test_a_name_that_leaves_the_folder_is_not_followed(folder: Path) -> None:
    (folder / "secret.shout").write_text("secret")
    (folder / "schemas" / "open.shout").write_text("open")
    (folder / "schemas" / "link.shout").symlink_to(folder / "secret.shout")
    text = f"@open @../secret @link @{folder}/secret @nothing"

    assert bound("-", "--format", "SHOUT", "--reference-folder", "schemas", stdin=text) == ["open"]


def test_a_file_that_is_a_reference_itself_takes_those_before_it() -> None:
    money, price = "schemas/org/acme/Money.avsc", "schemas/org.acme.Price.avsc"
    words = ["--reference", f"org.acme.Money={money}", "--reference", f"org.acme.Price={price}"]

    assert bound(money, *words) == []
    assert bound(price, *words) == ["org.acme.Money"]
    assert bound("order.avsc", *words) == ["org.acme.Money", "org.acme.Price"]


def test_a_chain_of_files_has_an_end(folder: Path) -> None:
    for number in range(500):
        text = f'{{"type":"record","name":"N{number}","fields":[{{"name":"a","type":"N{number + 1}"}}]}}'
        (folder / "schemas" / f"N{number}.avsc").write_text(text)
    result = run("canonical", "schemas/N0.avsc", "--reference-folder", "schemas")

    assert result.exit_code == 2
    assert "REFERENCE_DEPTH" in result.stderr


def test_one_list_of_references_serves_many_files() -> None:
    """A file that is a reference itself takes those before it, and files of other formats are not bound."""
    Path("words.shout").write_text("a b")
    money, price = "schemas/org/acme/Money.avsc", "schemas/org.acme.Price.avsc"
    words = ["--reference", f"org.acme.Money={money}", "--reference", f"org.acme.Price={price}"]
    words += ["--reference", "w=words.shout", "--rule", "UNION_SINGLE"]

    assert run("lint", money, price, "order.avsc", "words.shout", *words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--reference", "x=missing.avsc"], "the reference x=missing.avsc cannot be read"),
        (["--reference", "x"], "'x' is not NAME=FILE"),
        (["--reference-folder", "order.avsc"], "'order.avsc' is not a folder"),
        (["--reference-folder", "schemas", "--subject", "s", "--registry", "http://x"], "exclude each other"),
    ],
)
def test_wrong_use_is_told(words: list[str], told: str) -> None:
    result = run("check", "order.avsc", *([] if "--subject" in words else ["order.avsc"]), *words)

    assert result.exit_code == 2
    assert told in result.stderr
