"""`treaty lint`: advice as compilers print it, for those who asked for it."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.facades.shouting import offer
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.formats.registry import find_formats


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with schemas of a format that an installed package offers."""
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    work = tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    for name, text in {"calm": "a b", "loud": "a B C d", "broken": "a\nwhy ?"}.items():
        (work / f"{name}.shout").write_text(text)
    return work


def lint(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(group, ["lint", *words], input=stdin)


def test_the_recommended_lints_are_on_where_none_is_chosen(folder: Path) -> None:
    schema = '{"type":"record","name":"f","fields":[{"name":"a","type":["int"]}]}'
    (folder / "one.avsc").write_text(schema)
    plain = json.loads(lint("one.avsc", "--json").stdout)
    whole = json.loads(lint("--all", "one.avsc", "--json").stdout)
    quiet = lint("calm.shout")

    assert {one["rule"] for one in plain["advice"]} == {"NAME_STYLE", "UNION_SINGLE"}
    assert {one["rule"] for one in whole["advice"]} > {"DOC_MISSING", "FIELD_DEFAULT_MISSING", "NAME_STYLE"}
    assert lint("loud.shout").exit_code == 1
    assert (quiet.exit_code, quiet.output) == (0, "1 file, no findings.\n")


def test_findings_are_annotations_of_github() -> None:
    lines = lint("--all", "loud.shout", "--output-format", "github").stdout.splitlines()

    assert lines[0] == "::error file=loud.shout,line=1,col=1,title=SHORT::there are 4 words; expected three"
    assert lines[-1] == "1 file, 3 findings."


def test_advice_looks_like_a_compilers_in_the_order_of_the_text() -> None:
    result = lint("--all", "calm.shout", "loud.shout")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "loud.shout:1:1: SHORT there are 4 words; expected three",
        "loud.shout:1:2: LOUD B is loud at /1; expected b",
        "loud.shout:1:3: LOUD C is loud at /2; expected c",
        "2 files, 3 findings.",
    ]


@pytest.mark.parametrize(
    ("words", "code", "rules"),
    [
        (["--rule", "SHORT", "loud.shout"], 1, ["SHORT"]),
        (["--rule", "LOUD", "--rule", "SHORT", "loud.shout"], 1, ["SHORT", "LOUD", "LOUD"]),
        (["--all", "calm.shout"], 0, []),
        (["--all", "calm.shout", "broken.shout"], 2, ["QUESTION"]),
        (["--all", "broken.shout", "loud.shout"], 2, ["QUESTION", "SHORT", "LOUD", "LOUD"]),
    ],
)
def test_json(words: list[str], code: int, rules: list[str]) -> None:
    result = lint(*words, "--json")
    told = json.loads(result.stdout)

    assert result.exit_code == code
    assert told["clean"] == (code == 0)
    assert [one["rule"] for one in told["advice"]] == rules


def test_faults_of_a_file_that_is_no_schema_have_the_same_form() -> None:
    result = lint("--all", "broken.shout")

    assert result.exit_code == 2
    assert result.stdout.splitlines()[0] == "broken.shout:2:5: QUESTION a schema asks nothing; expected a full stop"


def test_a_file_that_is_not_there_does_not_hide_the_others() -> None:
    plain, told = lint("--all", "missing.shout", "loud.shout"), lint("--all", "missing.shout", "loud.shout", "--json")

    assert plain.exit_code == told.exit_code == 2
    assert plain.stdout.count("LOUD") == 2
    assert "missing.shout cannot be read" in plain.stderr
    assert len(json.loads(told.stdout)["advice"]) == 3
    assert "missing.shout cannot be read" in json.loads(told.stdout)["errors"][0]


def test_the_list_has_id_formats_and_purpose() -> None:
    rows = json.loads(lint("--list", "--json").stdout)

    assert {"id": "LOUD", "formats": ["SHOUT"], "purpose": "Words are not shouted.", "recommended": True} in rows
    assert {row["id"] for row in rows} == find_formats().validators()
    assert lint("--list").stdout.splitlines()[0].split() == ["id", "recommended", "formats", "purpose"]


@pytest.mark.parametrize(
    ("where", "name", "text", "code"),
    [
        (".", "treaty.toml", '[lint]\nrules = ["LOUD"]', 1),
        ("..", "treaty.toml", '[lint]\nrules = ["all"]', 1),
        ("..", "pyproject.toml", '[tool.treaty.lint]\nrules = ["SHORT"]', 1),
        ("..", "pyproject.toml", '[tool.treaty.lint]\nshout = ["LOUD"]', 1),
        ("..", "pyproject.toml", '[tool.treaty.lint.shout]\nrules = ["LOUD"]', 1),
        ("..", "pyproject.toml", '[tool.treaty.lint]\nrules = []\navro = ["all"]', 0),
        ("..", "pyproject.toml", '[tool.treaty.lint]\nrules = ["all"]\nignore = ["deep/l*.shout"]', 0),
        ("..", "pyproject.toml", '[tool.treaty.lint]\nrules = ["all"]\nignore = ["l*.shout"]', 1),
        (".", "pyproject.toml", "[tool.other]\nx = 1", 1),
        (".", "treaty.toml", "[lint]\nrules = []", 0),
        (".", "treaty.toml", '[lint]\nrules = ["recommended"]', 1),
    ],
)
def test_settings_are_read_at_the_file_and_above_it(folder: Path, where: str, name: str, text: str, code: int) -> None:
    (folder / where / name).write_text(text)

    assert lint("loud.shout").exit_code == code


def test_the_nearest_settings_count_and_the_command_line_more(folder: Path) -> None:
    (folder.parent / "treaty.toml").write_text('[lint]\nrules = ["all"]')
    (folder / "treaty.toml").write_text('[lint]\nrules = ["SHORT"]')

    assert lint("loud.shout").stdout.count("LOUD") == 0
    assert lint("--rule", "LOUD", "loud.shout").stdout.count("LOUD") == 2
    assert lint("--format", "shout", "-", stdin="a b C").exit_code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[lint]\nrules = [", "cannot be read"),
        ("lint = 3", "lint is not a table"),
        ("[lint]\nrule = []", "lint has no key 'rule'; did you mean rules? known are rules, ignore, avro"),
        ("[lint]\nrules = [3]", "lint.rules is not a list of strings"),
        ('[lint]\nrules = ["LOUT"]', "unknown lint 'LOUT'; did you mean LOUD"),
        ('[lint]\nrules = ["XXXXXXXXX"]', "treaty lint --list prints"),
    ],
)
def test_settings_that_are_wrong_are_told(folder: Path, text: str, told: str) -> None:
    (folder / "treaty.toml").write_text(text)
    result = lint("loud.shout")

    assert result.exit_code == 2
    assert "treaty.toml" in result.stderr
    assert told in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give FILES"),
        (["--rule", "lout", "loud.shout"], "--rule: unknown lint 'lout'; did you mean LOUD"),
        (["--all", "-", "-"], "only one of the files can be -"),
        (["--all", "missing.shout"], "cannot be read"),
    ],
)
def test_wrong_use_is_told(words: list[str], told: str) -> None:
    result = lint(*words)

    assert result.exit_code == 2
    assert told in result.stderr


def test_the_settings_of_the_how_to_work(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "git-hook.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (folder / "pyproject.toml").write_text(text)
    (folder / "vendor").mkdir()
    for name in ("a.avsc", "vendor/b.avsc"):
        (folder / name).write_text('{"type":"record","name":"f","fields":[]}')
    told = json.loads(lint("a.avsc", "vendor/b.avsc", "--json").stdout)

    assert {one["file"] for one in told["advice"]} == {"a.avsc"}


def test_a_validator_that_there_is_not_is_answered_with_the_nearest_ones(folder: Path) -> None:
    url = f"sqlite://{folder}/r.db"
    connect(url).close()
    words = ["config", "set", "s", "--registry", url, "--validator"]
    near, far = (CliRunner().invoke(group, [*words, name]).stderr for name in ("DOC_MISSIN", "QQQ"))

    assert "did you mean DOC_MISSING" in near
    assert "ALIAS_AMBIGUOUS" not in near
    assert "names; --json lists them" in far
