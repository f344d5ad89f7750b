"""`treaty sql` on a terminal: what is typed, completed, remembered and printed."""

import os
import pty
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.behaviours.served import served
from treaty.cli.main import group
from treaty.cli.metastore import wait_notice
from treaty.cli.metastore.completion import NAMES_SECONDS, SourceNames, SqlCompleter
from treaty.cli.metastore.line_editor import HISTORY_STATEMENTS, read_history, write_history
from treaty.cli.metastore.shell import ScriptState, is_blank, is_complete
from treaty.cli.metastore.wait_notice import describe_rest, describe_wait
from treaty.cli.terminal.errors import STOP_SECONDS
from treaty.metastore.columns.to_schema import FORMATS
from treaty.metastore.sql.statements import SYSTEM_TABLES
from treaty.plan.encoding.derivation.texts import DERIVERS
from treaty.wire.statements import StatementResultBody

PROMPT = "treaty> "


class TypedProgram:
    """`treaty sql` on a pseudo-terminal."""

    def __init__(self, url: str, state: Path) -> None:
        self.near, far = pty.openpty()
        settings = {**os.environ, "TREATY_REGISTRY": url, "XDG_STATE_HOME": str(state), "TERM": "dumb", "NO_COLOR": "1"}
        words = [sys.executable, "-m", "treaty.cli.main", "sql"]
        self.process = subprocess.Popen(words, stdin=far, stdout=far, stderr=far, env=settings, start_new_session=True)
        os.close(far)

    def read_until(self, text: str) -> str:
        """Return what is printed up to a text; fails after a minute without it."""
        printed = ""
        deadline = time.monotonic() + 60
        while text not in printed:
            assert time.monotonic() < deadline, printed
            if select.select([self.near], [], [], 1)[0]:
                printed += os.read(self.near, 65_536).decode(errors="replace").replace("\r", "")
        return printed

    def interrupt(self) -> None:
        """Send Ctrl-C, once more each two seconds without a word: Python misses a signal just before it waits for keys."""
        for _ in range(30):
            self.process.send_signal(signal.SIGINT)
            if select.select([self.near], [], [], 2)[0]:
                return

    def answer(self, keys: str) -> str:
        """Type keys and a line end, and return what is printed up to the next prompt."""
        os.write(self.near, f"{keys}\n".encode())
        return self.read_until(PROMPT)


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[TypedProgram]:
    with served("memory:") as running:
        program = TypedProgram(running.url, tmp_path)
        try:
            program.read_until(PROMPT)
            yield program
        finally:
            program.process.kill()
            program.process.wait()
            os.close(program.near)


def test_statements_are_typed_over_lines_and_errors_show_their_place(typed: TypedProgram, tmp_path: Path) -> None:
    os.write(typed.near, b"CREATE STREAM flights (id INT)\n")
    typed.read_until("   ...> ")
    assert "Stream flights created" in typed.answer("WITH (KAFKA_TOPIC = 'f', VALUE_FORMAT = 'AVRO');")
    assert "flights  STREAM  kafka      f" in typed.answer("\\d")
    assert "id      INT   value  true" in typed.answer("\\d flights")
    said = typed.answer("SET TRIGGER = '2 seconds'; DEFINE n = 'flights';")
    assert "TRIGGER = '2 seconds' in the CREATE statements that follow" in said
    assert "${n} stands for 'flights'" in said
    refused = typed.answer("SHOW STREEMS;")
    assert "line 1, column 6" in refused
    assert "  SHOW STREEMS;\n       ^^^^^^^" in refused
    assert "CREATE STREAM flights" in typed.answer("SHOW CREATE STREAM ${n};")
    assert "DROP STREAM | TABLE [IF EXISTS] name" in typed.answer("\\h drop")
    os.write(typed.near, b"DROP STREAM flights CASCADE;\n")
    typed.read_until("Drop them? [y/N]: ")
    assert "flights dropped" in typed.answer("y")
    assert "streams and tables" in typed.answer("help")
    assert "streams and tables" in typed.answer("?")
    os.write(typed.near, b"CREATE STREAM forgotten (\n\\q\n")
    assert typed.process.wait(60) == 0
    history = tmp_path / "treaty" / "sql_history"
    assert (
        read_history(history)[0] == "CREATE STREAM flights (id INT)\nWITH (KAFKA_TOPIC = 'f', VALUE_FORMAT = 'AVRO');"
    )
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_ctrl_c_forgets_what_is_typed_and_ends_no_session_with_a_log(tmp_path: Path) -> None:
    program = TypedProgram(f"sqlite://{tmp_path}/registry.db", tmp_path)
    try:
        program.read_until(PROMPT)
        os.write(program.near, b"DROP STREAM x\n")
        program.read_until("   ...> ")
        program.interrupt()
        program.read_until(PROMPT)
        assert "There is no stream or table y" in program.answer("DROP STREAM y;")
        printed = ""
        while select.select([program.near], [], [], 2 * STOP_SECONDS)[0]:
            printed += os.read(program.near, 65_536).decode()
        assert "stopping" not in printed
        os.write(program.near, b"\\q\n")
        assert program.process.wait(60) == 0
    finally:
        program.process.kill()
        program.process.wait()
        os.close(program.near)


def test_a_statement_ends_with_a_semicolon_of_its_own() -> None:
    assert [is_complete(text) for text in ("SHOW STREAMS", "SHOW STREAMS;", "a ';", "a /* ;", "-- ;", "a; -- b", "a; b")] == [
        False, True, False, False, False, True, False,
    ]  # fmt: skip
    assert is_blank("  -- a comment\n")
    assert not is_blank("/* open")


def test_what_is_set_stands_before_later_scripts() -> None:
    state = ScriptState({})
    state.note("SET START = 'latest'; DEFINE a = 'b';")
    assert (state.prefix(), dict(state.variables)) == ("SET START = 'latest'; \n", {"a": "b"})
    state.note("SHO;")
    state.note("UNSET START; UNDEFINE a;")
    assert (state.prefix(), dict(state.variables)) == ("", {})


class NamedSources:
    """A session whose registry has so many sources."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.scripts: list[str] = []

    def run(self, text: str, *_rest: object, **_options: object) -> Iterator[StatementResultBody]:
        self.scripts.append(text)
        rows: list[list[object]] = [[f"Source{number:05d}"] for number in range(self.count)]
        yield StatementResultBody(text, "SELECT", columns=["name"], rows=[*rows, ["odd name"]])

    def close(self) -> None:
        """Nothing is open."""


def test_names_keywords_and_properties_are_completed_where_they_belong() -> None:
    session = NamedSources(10_000)
    names = SourceNames(session)
    completer = SqlCompleter(names)
    assert names.find("source") == []
    names.load()
    names.wait()
    assert list(completer.find("DESCRIBE ", "source0999")) == [f"Source0999{digit}" for digit in range(10)]
    assert list(completer.find("\\d ", "odd")) == ["`odd name`"]
    assert list(completer.find("CREATE STREAM s WITH (kafka_topic = 'a', ", "value_f")) == ["value_format"]
    assert list(completer.find("SHOW STREAMS;\n", "undr")) == ["undrop"]
    assert list(completer.find("SHOW ", "TAB")) == ["TABLES"]
    assert "treaty.sources" in completer.find("SELECT * FROM ", "treaty.s")
    assert list(completer.find("SET ", "TR")) == ["TRIGGER"]
    for before, word, offered in [
        ("ALTER STREAM s RENAME ", "", ["TO"]),
        ("ALTER STREAM s RENAME ", "t", ["to"]),
        ("ALTER STREAM s RENAME ", "odd", []),
        ("ALTER STREAM s SWAP ", "", ["WITH"]),
        ("ALTER STREAM s SWAP WITH ", "odd", ["`odd name`"]),
    ]:
        assert list(completer.find(before, word)) == offered, before
    assert list(completer.find("ALTER STREAM s SWAP WITH ", ""))[:1] == list(completer.find("DESCRIBE ", ""))[:1] != []
    assert list(completer.find("SELECT * FROM ", "TREATY.")) == [f"treaty.{one}" for one in sorted(SYSTEM_TABLES)]
    assert len(session.scripts) == 1
    assert NAMES_SECONDS > 1


def test_a_history_keeps_the_newest_statements_and_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    path.parent.mkdir()
    path.write_text('"old";\n{"a": 1}\n' + '"x"\n' * (2 * HISTORY_STATEMENTS), "utf-8")
    write_history(path, "SHOW\nSTREAMS;")
    kept = read_history(path)
    assert (len(kept), kept[-1]) == (HISTORY_STATEMENTS, "SHOW\nSTREAMS;")
    assert len(path.read_text("utf-8").splitlines()) == HISTORY_STATEMENTS
    write_history(tmp_path / "state" / "history" / "no-folder", "SHOW STREAMS;")


def test_what_remains_after_ctrl_c_depends_on_the_statement() -> None:
    query = "CREATE STREAM s AS\n  SELECT * FROM t"
    assert (describe_wait(query, planner="registry"), describe_wait("SHOW STREAMS")) == (
        "waiting for a planner; `treaty planner` starts one, where none runs",
        "running",
    )
    assert [describe_wait(query, planner=choice) for choice in ("auto", "local")] == ["planning", "planning"]
    assert describe_wait("EXPLAIN SELECT v FROM STREAM t", planner="local") == "planning"
    assert "once it is planned" in describe_rest(query)
    assert "may still carry out" in describe_rest("DROP STREAM s")
    assert "nothing remains" in describe_rest("SHOW STREAMS")


def test_the_program_loads_neither_a_node_nor_the_parser_for_a_server() -> None:
    program = "import sys, treaty.cli.metastore.sql; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {".".join(name.split(".")[:2]) for name in run.stdout.split()}
    assert not loaded & {"treaty.node", "treaty.log", "treaty.metastore", "treaty.assemble", "treaty.plan"}


ABSENT = (
    "pyarrow", "urllib3", "confluent_kafka", "multiprocessing", "importlib.metadata", "treaty.spark", "treaty.plan", "treaty.formats.engine",
    "treaty.formats.avro", "treaty.formats.logical", "treaty.node.pool", "treaty.node.segment.statefile", "treaty.node.segment.build",
    "treaty.log.memory", "treaty.client.connection", "treaty.client.kafka.producer", "treaty.wire.confluent", "treaty.core.handlers.registration",
    "treaty.core.declarations.commands", "treaty.core.declarations.metastore", "treaty.core.messages.groups", "treaty.core.messages.metastore.plans",
    "treaty.metastore.metastore", "treaty.metastore.calls", "treaty.metastore.definitions", "treaty.metastore.columns",
    "treaty.metastore.execution.planned", "treaty.metastore.execution.atomic", "treaty.metastore.execution.topic_statements",
    "treaty.metastore.records.writes", "treaty.metastore.execution.system_tables", "treaty.metastore.execution.assertions",
    "treaty.metastore.sql.changes", "treaty.metastore.sql.create", "treaty.metastore.sql.heads", "treaty.metastore.sql.bodies",
    "treaty.metastore.sql.questions", "treaty.metastore.sql.records", "treaty.core.handlers.drafts", "treaty.core.handlers.metastore.types",
    "treaty.core.handlers.metastore.definitions", "treaty.cli.spark",
)  # fmt: skip
"""What a statement that lists streams of a log has no use for."""
MODULES = 190
"""Modules of this package that it loads, at most. A program's start is the sum of them."""


def test_a_statement_over_a_log_loads_what_it_needs_alone(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/registry.db"
    program = (
        "import sys, treaty.cli.main, treaty.cli.metastore.sql, treaty.cli.metastore.registry_session as s\n"
        f"session = s.RegistrySession({url!r})\n"
        "list(session.run('SHOW STREAMS', {}, print))\n"
        "session.close()\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "treaty.log.sqlite.log" in loaded
    assert not [name for name in loaded for absent in ABSENT if name == absent or name.startswith(f"{absent}.")]
    assert len([name for name in loaded if name.startswith("treaty.")]) <= MODULES


@pytest.mark.parametrize(
    ("url", "words"), [("bogus://x", "no log for 'bogus://x'"), ("postgres://127.0.0.1:1/x", "check that it runs")]
)
def test_a_registry_that_can_t_be_opened_is_an_error_with_a_remedy(url: str, words: str) -> None:
    run = CliRunner().invoke(group, ["sql", "--registry", url, "-e", "SHOW STREAMS"])
    assert (run.exit_code, words in run.stderr, "--registry" in run.stderr) == (2, True, True)
    assert isinstance(run.exception, SystemExit)


def test_schemas_are_made_in_the_formats_that_have_a_deriver() -> None:
    assert sorted(DERIVERS) == list(FORMATS)


def test_who_waits_for_a_planner_learns_it_once_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_SECONDS", 0.01)
    with wait_notice.show_wait("CREATE STREAM s AS SELECT v FROM STREAM t", planner="registry") as notice:
        notice._watch.join(30)
    assert capsys.readouterr().err == "waiting for a planner; `treaty planner` starts one, where none runs\n"
    with wait_notice.show_wait("SHOW STREAMS") as notice:
        assert not notice._watch.is_alive()
