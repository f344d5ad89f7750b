r"""Statements typed on a terminal: lines up to a semicolon, a prompt, and the short commands ``\d``, ``\h`` and ``\q``."""

import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import click
import msgspec

from treaty.cli.metastore.completion import SourceNames, SqlCompleter
from treaty.cli.metastore.line_editor import LineEditor
from treaty.cli.metastore.result_printer import FailedScriptError, say_result
from treaty.cli.metastore.sql import SqlOptions
from treaty.cli.metastore.statement_session import StatementSession
from treaty.cli.metastore.wait_notice import show_wait
from treaty.cli.terminal import screen
from treaty.core.column_types.tokens import split_tokens
from treaty.core.urls import hide_credentials
from treaty.metastore.sql.keywords import STATEMENT_FORMS
from treaty.metastore.sql.script import parse_script
from treaty.wire.statements import StatementResultBody

PROMPT, MORE = "treaty> ", "   ...> "
LISTING = "SELECT name, kind, connector, place, value_format, comment FROM treaty.sources ORDER BY name;"
"""What ``\\d`` stands for."""
_LEAVE = frozenset({"\\q", "exit", "quit"})
_ASK = frozenset({"help", "?"})
_CHANGES_NAMES = frozenset({"CREATE", "ALTER", "DROP", "UNDROP"})
_HELP = (
    ("\\d", "streams and tables"),
    ("\\d NAME", "columns of a stream, table or type; \\d+ NAME has all facts"),
    ("\\h", "words with which statements begin; \\h WORD has the forms of a statement"),
    ("\\q", "leave, as Ctrl-D, exit and quit do; also within a statement, which is forgotten"),
    ("Ctrl-C", "forget what is typed; while a statement runs, wait for it no more"),
    ("tabulator", "complete a keyword, a name or a property"),
)


def is_complete(text: str) -> bool:
    """Return whether a text ends with a semicolon that is not inside of a text, a name or a comment."""
    tokens = [token for token in split_tokens(text) if token.kind != "end"]
    return bool(tokens) and (tokens[-1].kind, tokens[-1].text) == ("sign", ";")


def is_blank(text: str) -> bool:
    """Return whether a text has comments and blanks alone, and no open one."""
    return all(token.kind == "end" for token in split_tokens(text))


@dataclass(slots=True)
class ScriptState:
    """What DEFINE and SET have left for the statements that are typed later."""

    variables: Mapping[str, str]
    settings: tuple[tuple[str, str], ...] = ()

    def prefix(self) -> str:
        """Return the SET statements before a script, as one line; empty without any."""
        statements = [f"SET {name} = '{value.replace(chr(39), chr(39) * 2)}'; " for name, value in self.settings]
        return "".join(statements) + "\n" if statements else ""

    def note(self, text: str) -> None:
        """Keep what a script that was carried out has defined and set."""
        script = parse_script(self.prefix() + text, self.variables)
        if not script.diagnostics:
            self.variables, self.settings = dict(script.variables), script.settings


class SqlShell:
    """Reads statements from a terminal and carries them out, until the user leaves."""

    def __init__(self, session: StatementSession, options: SqlOptions, url: str) -> None:
        """Load the names of sources meanwhile."""
        self._session = session
        self._options = options
        self._url = url
        self._state = ScriptState(options.variables)
        self._names = SourceNames(session)
        self._editor = LineEditor(SqlCompleter(self._names))

    def run(self) -> None:
        """Carry out what is typed; an error is printed, and does not end the shell."""
        address = hide_credentials(self._url)
        screen.say(
            f"Statements for {address}: each ends with a semicolon. \\? lists short commands, \\q leaves.", err=True
        )
        self._names.load()
        # A session with a log announces a slow end after Ctrl-C, which ends no session here.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with self._editor:
            for text in self._read_texts():
                self._run_typed(text)

    def _read_texts(self) -> Iterator[str]:
        """Yield statements up to their semicolons, and short commands."""
        lines: list[str] = []
        while True:
            try:
                line = self._editor.read(MORE if lines else PROMPT, "\n".join(lines))
            except KeyboardInterrupt:
                click.echo("", err=True)
                lines = []
                continue
            except EOFError:
                click.echo("", err=True)
                return
            word = line.strip().rstrip("; ").lower()
            if word == "\\q" or (not lines and word in _LEAVE):
                return
            if not lines and word in _ASK:
                line = "\\?"
            lines.append(line)
            text = "\n".join(lines)
            is_short = len(lines) == 1 and line.lstrip().startswith("\\")
            if not is_short and not is_complete(text):
                lines = [] if is_blank(text) else lines
                continue
            self._editor.remember(text.strip())
            lines = []
            yield text

    def _run_typed(self, text: str) -> None:
        try:
            if text.lstrip().startswith("\\"):
                self._run_short(text.strip().rstrip(";"))
            else:
                self._run(text)
        except click.ClickException as error:
            error.show()
        except (KeyboardInterrupt, click.Abort):
            screen.say("Interrupted.", err=True)

    def _run_short(self, line: str) -> None:
        word, _, name = line.partition(" ")
        name = name.strip()
        match word:
            case "\\d" if name:
                self._run(f"DESCRIBE {name};")
            case "\\d+" if name:
                self._run(f"DESCRIBE {name} EXTENDED;")
            case "\\d" | "\\d+":
                self._run(LISTING)
            case "\\h":
                say_forms(name.upper())
            case "\\?":
                screen.say_rows(("short", "does"), _HELP)
            case _:
                screen.say(f"There is no {word}; \\? lists what there is", "red", err=True)

    def _run(self, text: str) -> None:
        """Carry out a script after what SET has left; places of errors are those of the text itself."""
        prefix, options = self._state.prefix(), self._options
        skipped = len(self._state.settings)
        results: list[StatementResultBody] = []
        try:
            with show_wait(text, planner=options.planner) as notice:
                confirm = partial(options.confirm, before=notice.stop)
                outcomes = self._session.run(prefix + text, self._state.variables, confirm, dry_run=options.dry_run)
                for place, result in enumerate(outcomes):
                    if place >= skipped:
                        notice.stop()
                        results.append(result)
                        if not options.as_json:
                            say_result(result)
        except FailedScriptError as error:
            raise without_lines(error, text, prefix.count("\n")) from error
        finally:
            if options.as_json and results:
                screen.say_json(msgspec.to_builtins(results))
            if any(result.kind.partition(" ")[0] in _CHANGES_NAMES for result in results):
                self._names.load()
        self._state.note(text)


def without_lines(error: FailedScriptError, text: str, count: int) -> FailedScriptError:
    """Return an error with the places of a text before which so many lines were put."""
    if not count:
        return error
    body = error.body
    moved = [msgspec.structs.replace(one, line=one.line - count) for one in body.diagnostics]
    return type(error)(text, msgspec.structs.replace(body, diagnostics=moved))


def say_forms(word: str) -> None:
    """Print the forms of the statements that begin with a word; without one, all such words."""
    forms = STATEMENT_FORMS.get(word.partition(" ")[0], ())
    if not forms:
        screen.say(f"Statements begin with {', '.join(STATEMENT_FORMS)}; \\h WORD has their forms")
        return
    for form, purpose in forms:
        screen.say(form, bold=True)
        screen.say(f"    {purpose}")
