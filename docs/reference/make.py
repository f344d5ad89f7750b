"""Write the reference pages from the code: `python docs/reference/make.py`; `tests/house/test_reference.py` keeps them true."""

import ast
import json
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click

from treaty.api.confluent.openapi.document import SAYS, named, summary
from treaty.api.confluent.openapi.parts import Parameter
from treaty.api.confluent.openapi.table import COMMANDS, CONSISTENCY, GROUPS, HEADERS, PAGES, TABLE
from treaty.cli.main import group
from treaty.core import limits
from treaty.core.portable import row_schemas
from treaty.formats.logical.faults import EXPECTED as LOGICAL
from treaty.formats.rule import POLICIES, Rule
from treaty.formats.table import BUILT_IN, Table

HERE = Path(__file__).parent
MADE = "<!-- Made by docs/reference/make.py from the code; change the code instead. -->\n"
GLOSSARY_MADE = "<!-- Made by docs/reference/make.py from docs/glossary.toml; change that instead. -->\n"


def pages() -> dict[str, str]:
    """Return every reference page by file name."""
    return {
        "rows.schema.json": json.dumps(row_schemas(), indent=1) + "\n",
        "limits.md": MADE + _limits(),
        "http.md": MADE + _http(),
        "rules.md": MADE + _rules(),
        "commands.md": MADE + _commands(),
        "glossary.md": GLOSSARY_MADE + _glossary(),
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
    """Routes by group with what they take and may answer, from the table that the OpenAPI document is made of."""
    lines = ["# HTTP: Confluent's dialect", "", *_HTTP_HEAD]
    for name, about in GROUPS.items():
        lines += ["", f"## {name}", "", about, ""]
        lines += ["| method | path | what it answers | query | errors of its own |", "|---|---|---|---|---|"]
        for path, methods in {**TABLE, **PAGES}.items():
            for method, one in methods.items():
                if one.group == name:
                    query = ", ".join(f"`{each.name}`" for each in one.query)
                    errors = ", ".join(map(str, one.errors))
                    lines.append(_row(method, f"`{named(path, one)}`", summary(path, method)[1], query, errors))
    operations = [one for methods in TABLE.values() for one in methods.values()]
    for title, parameters in (
        ("In the path", [each for one in operations for each in one.path]),
        ("In the query", [CONSISTENCY, *(each for one in operations for each in one.query)]),
        ("In headers", [*HEADERS, *COMMANDS]),
    ):
        told = {(each.name, each.says): each for each in parameters}
        lines += ["", f"## {title}", "", "| name | is | meaning |", "|---|---|---|"]
        lines += [_row(f"`{each.name}`", _kind(each), _meaning(each)) for each in told.values()]
    lines += ["", "## Statuses of errors", "", "| status | meaning |", "|---|---|"]
    return "\n".join([*lines, *(_row(str(status), says) for status, says in SAYS.items())]) + "\n"


_HTTP_HEAD = (
    "Every path is also served below `/contexts/{context}`. The same as a file for programs: `treaty openapi`, or `/openapi.json` of a",
    "server; as a page on which requests can be tried: `/docs`. Every route may also answer the errors of the last table.",
)


def _kind(one: Parameter) -> str:
    kind = one.kind if one.whole is None else "text"
    words = " or ".join(f"`{word}`" for word in one.choices)
    default = "" if one.default is None else f", default {json.dumps(one.default)}"
    return (words or ("several texts" if one.repeated else kind)) + default


def _meaning(one: Parameter) -> str:
    return one.says + (f" (also read as {', '.join(f'`{name}`' for name in one.also)})" if one.also else "")


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
    lines += [
        "",
        "## Logical Types",
        "",
        "What a schema sent as a text of logical types is refused for, in every format.",
        "",
    ]
    lines += ["| rule | what is expected |", "|---|---|", *(_row(f"`{one}`", text) for one, text in LOGICAL.items())]
    return "\n".join(lines) + "\n"


_HEAD = (
    "*Harm* says what a change does that the rule names: `backward`, the new schema can't read old data; `both`, neither",
    "reads what the other one wrote; `none`, it is told and harms nobody. *Refused under* names the compatibility policies",
    "under which it is a reason to refuse. Advice is off until a policy or `treaty lint` asks for it by name.",
)


def _policies(rule: Rule) -> str:
    return "all" if set(rule.policies) == set(POLICIES) else ", ".join(rule.policies) or "none"


def _glossary() -> str:
    """Terms in alphabetical order, and the words that are not used."""
    parsed = tomllib.loads((HERE.parent / "glossary.toml").read_text(encoding="utf-8"))
    lines = ["# Glossary", "", *_GLOSSARY_HEAD, "", "| term | meaning | known from | not |", "|---|---|---|---|"]
    for term in sorted(parsed["term"], key=lambda term: str(term["name"])):
        retired = ", ".join(f"`{word}`" for word in [*term.get("instead_of", ()), *term.get("in_names", ())])
        lines.append(_row(f"**{term['name']}**", term["meaning"], term["source"], retired))
    lines += ["", "## Words without a concept", "", "| not | but |", "|---|---|"]
    return "\n".join([*lines, *(_row(f"`{word}`", say) for word, say in parsed["idioms"].items())]) + "\n"


_GLOSSARY_HEAD = (
    "One concept has one word, in code, messages, metrics and documents. `make check` refuses the words in the last column in the names of",
    "modules, classes, functions and parameters.",
)


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
