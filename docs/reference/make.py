"""Write the reference pages from the code: `python docs/reference/make.py`; `tests/house/test_reference.py` keeps them true."""

import ast
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click

from treaty.api.confluent.routes import PATHS
from treaty.cli.main import group
from treaty.core import limits
from treaty.core.portable import row_schemas
from treaty.formats.rule import POLICIES, Rule
from treaty.formats.table import BUILT_IN, Table

HERE = Path(__file__).parent
MADE = "<!-- Made by docs/reference/make.py from the code; change the code instead. -->\n"


def pages() -> dict[str, str]:
    """Return every reference page by file name."""
    return {
        "rows.schema.json": json.dumps(row_schemas(), indent=1) + "\n",
        "limits.md": MADE + _limits(),
        "http.md": MADE + _http(),
        "rules.md": MADE + _rules(),
        "commands.md": MADE + _commands(),
    }


def _limits() -> str:
    """Names, defaults and meanings: a limit is an assignment followed by its sentence."""
    source = Path(limits.__file__).read_text(encoding="utf-8")
    body = ast.parse(source).body
    lines = ["# Limits", "", "Past a limit there is a clear error that names it, and nothing is lost.", ""]
    lines += ["| limit | default | what it bounds |", "|---|---|---|"]
    for one, told in pairwise(body):
        if isinstance(one, ast.Assign) and isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant):
            (target,) = one.targets
            assert isinstance(target, ast.Name)
            meaning = " ".join(str(told.value.value).split())
            lines.append(f"| `{target.id}` | {getattr(limits, target.id):,} | {meaning} |")
    return "\n".join(lines) + "\n"


def _http() -> str:
    """Paths, methods and the first line of what each endpoint says of itself."""
    lines = ["# HTTP: Confluent's dialect", ""]
    lines += ["Every path is also served below `/contexts/{context}`. An open segment is `{}`.", ""]
    lines += ["| method | path | what it answers |", "|---|---|---|"]
    for path, methods in PATHS.items():
        for method, endpoint in methods.items():
            first = " ".join((endpoint.__doc__ or "").strip().split("\n\n")[0].split())
            lines.append(f"| {method} | `{path}` | {first} |")
    return "\n".join(lines) + "\n"


def _rules() -> str:
    """Everything that each format can tell: differences, advice, and what makes a text invalid."""
    formats = Table(BUILT_IN)
    lines = ["# Rules of the formats", "", *_HEAD]
    for name in formats.names:
        form = formats.find(name)
        assert form is not None
        lines += ["", f"## {name}"]
        if form.rules:
            lines += ["", f"### {name}: differences between two schemas", ""]
            lines += ["| rule | why | harm | refused under | what would be allowed |", "|---|---|---|---|---|"]
            lines += [
                _row(f"`{one.id}`", one.purpose, one.harm, _policies(one), one.remedy) for one in form.rules.values()
            ]
        if form.lints:
            lines += ["", f"### {name}: advice", "", "| lint | what it asks for |", "|---|---|"]
            lines += [_row(f"`{one.id}`", one.purpose) for one in form.lints.values()]
        if form.faults:
            lines += ["", f"### {name}: a valid schema", "", "| rule | what is expected |", "|---|---|"]
            lines += [_row(f"`{one}`", expected) for one, expected in form.faults.items()]
    return "\n".join(lines) + "\n"


_HEAD = (
    "*Harm* says what a change does that the rule names: `backward`, the new schema can't read old data; `both`, neither",
    "reads what the other one wrote; `none`, it is told and harms nobody. *Refused under* names the compatibility policies",
    "under which it is a reason to refuse. Advice is off until a policy or `treaty lint` asks for it by name.",
)


def _policies(rule: Rule) -> str:
    return "all" if set(rule.policies) == set(POLICIES) else ", ".join(rule.policies) or "none"


def _row(*cells: str) -> str:
    """A line of a table; a bar inside a cell would end it."""
    safe = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(safe)} |"


def _commands() -> str:
    """The help of every command, as the terminal shows it."""
    context = click.Context(group, info_name="treaty", terminal_width=100, max_content_width=100)
    shown = [f"# Commands\n\n```\n{group.get_help(context)}\n```\n"]
    shown += [f"\n## {name}\n\n```\n{text}\n```\n" for name, text in _helps(group, context)]
    return "".join(shown)


def _helps(parent: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    for name in parent.list_commands(context):
        command = parent.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name, terminal_width=100, max_content_width=100)
        yield inner.command_path, command.get_help(inner)
        if isinstance(command, click.Group):
            yield from _helps(command, inner)


if __name__ == "__main__":
    for page, text in pages().items():
        (HERE / page).write_text(text, encoding="utf-8")
        print(f"docs/reference/{page}")
