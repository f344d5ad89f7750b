"""Write the reference pages from the code: `python docs/reference/make.py`; `tests/house/test_reference.py` keeps them true."""

import ast
import json
import runpy
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click

from treaty.api.confluent.routes import TABLE
from treaty.api.dialects.description import ApiParameter
from treaty.api.openapi.document import SAYS, name_segments, summary
from treaty.api.openapi.table import COMMANDS, CONSISTENCY, DIALECTS, EVERYTHING, GROUPS, HEADERS
from treaty.cli.main import group
from treaty.core import limits
from treaty.core.column_types import limits as metastore_limits
from treaty.core.state.columns import SCALARS as _SCALARS
from treaty.core.state.columns import Decimal, Scalar
from treaty.core.state.portable import row_schemas
from treaty.formats.logical.model import EXPECTED as LOGICAL
from treaty.formats.registry import BUILT_IN, FormatRegistry
from treaty.formats.rule import POLICIES, CompatibilityRule
from treaty.plan.ddl import type_ddl
from treaty.plan.encoding.casts import cast
from treaty.plan.encoding.fit import LOSSY, ColumnConversion, sentence
from treaty.web.index import contents, extraction, lookup, plans, readable_subjects
from treaty.wire.confluent.error_index import ERROR_CODES

HERE = Path(__file__).parent
MADE = "<!-- Made by docs/reference/make.py from the code; change the code instead. -->\n"
GLOSSARY_MADE = "<!-- Made by docs/reference/make.py from docs/glossary.toml; change that instead. -->\n"


def pages() -> dict[str, str]:
    """Return every reference page by file name."""
    return {
        "rows.schema.json": json.dumps(row_schemas(), indent=1) + "\n",
        "limits.md": MADE + _limits(),
        "http.md": MADE + _http(),
        "errors.md": MADE + _errors(),
        "operations.md": MADE + _page("operations_api.py"),
        "rules.md": MADE + _rules(),
        "commands.md": MADE + _commands(),
        "python.md": MADE + _page("python_api.py"),
        "casts.md": MADE + _casts(),
        "statements.md": MADE + _page("statements_page.py"),
        "queries.md": MADE + _page("queries_page.py"),
        "spark-claims.md": MADE + _page("spark_claims_page.py"),
        "metrics.md": MADE + _page("metrics_page.py"),
        "rights.md": MADE + _page("rights_page.py"),
        "server.md": MADE + _page("server_page.py"),
        "files.md": MADE + _page("files_page.py"),
        "iglu-central.md": MADE + _page("iglu_central.py"),
        "glossary.md": GLOSSARY_MADE + _glossary(),
    }


_CASTS = """# Casts of encoding

Encoding casts a column to the type of its field in the schema. A row whose value would lose information becomes a bad row, with the path and the
sentence below, unless the value's path is in `EncodeOptions(lossy=("/price", "/lines/[]/at"))`. Then numbers are rounded to the nearest, and fractions of
integers and parts of times are cut off. A value that does not fit at all makes a bad row in any case. The encode plan rejects a path where nothing
can be lost, and a pair of types without a row here.

| column | becomes | a row is bad where the value | `lossy` |
|---|---|---|---|
"""
_PLACES = """
Some types of schemas check more than their column type:

| place | a row is bad where the value | `lossy` |
|---|---|---|
| Avro's `timestamp-millis` and `local-timestamp-millis` | has microseconds, and the schema counts milliseconds | yes |
| Avro's `timestamp-nanos` (from TIMESTAMP) and `local-timestamp-nanos` (from TIMESTAMP_NTZ) | does not fit into BIGINT | |
| any JSON in a JSON Schema | has a number of more digits than Spark keeps in JSON (38, with an exponent 15) | yes |
| Protobuf's `Struct`, `Value` and `ListValue` | has a number that would lose digits as a double | |
| members of JSON text made of a struct | (a member that is null is left out) | |
"""


def _page(program: str) -> str:
    """Return the page that another program of this folder makes."""
    text: str = runpy.run_path(str(HERE / program))["page"]()
    return text


def _casts() -> str:
    """Every pair of column types that is cast, with its checks."""
    scalars: tuple[Scalar | Decimal, ...] = (*(Scalar(name) for name in _SCALARS), Decimal(10, 2), Decimal(8, 1))
    lines = []
    for have in scalars:
        for want in scalars:
            found = cast(have, want)
            if have == want or found is None or Scalar("null") in {have, want}:
                continue
            fit = ColumnConversion("", found[0], type_ddl(want), type_ddl(have), checks=found[1])
            said = dict.fromkeys(sentence(fit, one).removeprefix("the value ") for one in found[1])
            lossy = "yes" if any(one.name in LOSSY for one in found[1]) else ""
            names = ("JSON text" if one == Scalar("variant") else f"`{type_ddl(one)}`" for one in (have, want))
            lines.append(_row(*names, " or ".join(said), lossy))
    return _CASTS + "\n".join(lines) + "\n" + _PLACES


def _limits() -> str:
    """Names, defaults and meanings: a limit is an assignment followed by its sentence."""
    parts = [Path(str(module.__file__)) for module in (limits, metastore_limits)]
    body = [node for part in parts for node in ast.parse(part.read_text(encoding="utf-8")).body]
    lines = [
        "# Limits",
        "",
        "An error that names the limit answers a request past it; no data is lost. Limits are fixed: `/status` lists them in lower case.",
        "",
    ]
    lines += ["| limit | default | what it bounds |", "|---|---|---|"]
    lines += [f"| `{name}` | {getattr(limits, name):,} | {meaning} |" for name, meaning in _documented(body)]
    lines += [
        "",
        "## The search index",
        "",
        "What is past these limits is not in the index or not in an answer, and no request is refused.",
        "",
    ]
    lines += ["| limit | value | what it bounds |", "|---|---|---|"]
    for module in (extraction, contents, plans, lookup, readable_subjects):
        for name, meaning in _documented(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body):
            value = getattr(module, name)
            if isinstance(value, int) and not name.startswith(("SUBJECTS", "SOURCES_FROM")):
                lines.append(f"| `{name}` | {value:,} | {meaning} |")
    return "\n".join(lines) + "\n"


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the names that a module assigns with a sentence after them, and that sentence."""
    for one, told in pairwise(body):
        if isinstance(one, ast.Assign) and isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant):
            (target,) = one.targets
            assert isinstance(target, ast.Name)
            yield target.id, " ".join(str(told.value.value).split())


def _http() -> str:
    """Routes by group with what they take and may answer, from the table that the OpenAPI document is made of."""
    lines = ["# HTTP", "", *_HTTP_HEAD]
    for name, about in GROUPS.items():
        lines += ["", f"## {name}", "", about, ""]
        lines += ["| method | path | what it does | query | errors |", "|---|---|---|---|---|"]
        for path, methods in EVERYTHING.items():
            for method, one in methods.items():
                if one.group == name:
                    query = ", ".join(f"`{each.name}`" for each in one.query)
                    errors = ", ".join(map(str, one.errors))
                    lines.append(_row(method, f"`{name_segments(path, one)}`", summary(path, method)[1], query, errors))
    tables = (TABLE, *(one.table for one in DIALECTS))
    operations = [one for table in tables for methods in table.values() for one in methods.values()]
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
    "Every path of Confluent's dialect is also served below `/contexts/{context}`. `treaty openapi` prints the OpenAPI document; a server has it at `/openapi.json`,",
    "and at `/docs` as a page that sends requests. Every route may also answer the statuses of the last table; [error codes](errors.md)",
    "lists all codes with causes and remedies.",
)


def _kind(one: ApiParameter) -> str:
    kind = one.kind if one.full_schema is None else "text"
    words = " or ".join(f"`{word}`" for word in one.choices)
    default = "" if one.default is None else f", default {json.dumps(one.default)}"
    return (words or ("several texts" if one.repeated else kind)) + default


def _meaning(one: ApiParameter) -> str:
    return one.says + (f" (also read as {', '.join(f'`{name}`' for name in one.also)})" if one.also else "")


_ERRORS = """# Error codes

An error is answered with an HTTP status and a JSON body: `{"error_code": 40401, "message": "..."}`. A code of five digits begins with its status.
With the header `Treaty-Details: true` the body also has the rule, the path, the old value, the new value and what would be allowed.
Codes marked with * are Treaty's own; all others are those of Confluent's registry.

| code | meaning | cause | remedy |
|---|---|---|---|
"""


def _errors() -> str:
    """Every error code with its meaning, its cause and its remedy."""
    lines = [
        _row(f"{code}{'*' if one.is_own else ''}", one.meaning, one.cause, one.remedy)
        for code, one in ERROR_CODES.items()
    ]
    return (_ERRORS + "\n".join(lines)) + "\n"


def _rules() -> str:
    """Everything that each format can tell: differences, advice, and what makes a text invalid."""
    formats = FormatRegistry.of(BUILT_IN)
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
        "Problems of a schema that is written as a text of logical types, in every format.",
        "",
    ]
    lines += ["| rule | what is expected |", "|---|---|", *(_row(f"`{one}`", text) for one, text in LOGICAL.items())]
    return "\n".join(lines) + "\n"


_HEAD = (
    "*Harm* is the effect of the change: `backward`, the new schema cannot read old data; `both`, neither schema reads data of the",
    "other; `none`, the change is reported and harmless. *Refused under* lists the compatibility policies that reject the change.",
)


def _policies(rule: CompatibilityRule) -> str:
    return "all" if set(rule.policies) == set(POLICIES) else ", ".join(rule.policies) or "none"


def _glossary() -> str:
    """The concepts that users meet, then the words of the code, then the words that are not used."""
    parsed = tomllib.loads((HERE.parent / "glossary.toml").read_text(encoding="utf-8"))
    terms = sorted(parsed["term"], key=lambda term: str(term["name"]))
    lines = [
        "# Glossary",
        "",
        *_GLOSSARY_HEAD,
        "",
        "## Concepts",
        "",
        "| term | meaning | other systems |",
        "|---|---|---|",
    ]
    lines += [_row(f"**{one['name']}**", one["meaning"], one["elsewhere"]) for one in terms if "elsewhere" in one]
    lines += [
        "",
        "## Words of the code",
        "",
        *_CODE_HEAD,
        "",
        "| term | meaning | known from | not |",
        "|---|---|---|---|",
    ]
    for one in terms:
        retired = ", ".join(f"`{word}`" for word in [*one.get("instead_of", ()), *one.get("in_names", ())])
        if retired or "elsewhere" not in one:
            lines.append(_row(f"**{one['name']}**", one["meaning"], one["source"], retired))
    lines += ["", "## Words without a concept", "", "| not | but |", "|---|---|"]
    return "\n".join([*lines, *(_row(f"`{word}`", say) for word, say in parsed["idioms"].items())]) + "\n"


_GLOSSARY_HEAD = (
    "One concept has one word, in code, messages, metrics and documents. The first table has the concepts that users meet, with the words of",
    "other systems for the same or a similar concept. [Concepts](../concepts.md) shows how they belong together.",
)
_CODE_HEAD = (
    "Terms of the code, with a system that they are known from. `make check` rejects the words in the last column in names of modules, classes,",
    "functions and parameters.",
)


def _row(*cells: str) -> str:
    """A line of a table; a bar inside a cell would end it."""
    safe = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(safe)} |"


def _commands() -> str:
    """The help of every command, as the terminal shows it."""
    context = click.Context(
        group, info_name="treaty", terminal_width=100, max_content_width=100, **group.context_settings
    )
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
