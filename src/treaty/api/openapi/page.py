"""The description as one page of HTML: it loads nothing from anywhere, and reads without JavaScript too."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files

from treaty.api.dialects.description import Schema
from treaty.api.openapi.shapes import PLACE

_TOP = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head><body>
<h1>{title}</h1><p>{summary}, {version}. As a file for programs: <a href="openapi.json">openapi.json</a></p>
<p>{about}</p>
<form hidden><label>Authorization
<input id="credentials" autocomplete="off" placeholder="Basic … or Bearer …"></label></form>"""


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The page, and the policy under which a browser runs its own script and nothing else."""

    html: str
    policy: str


def page(described: Schema) -> HtmlPage:
    """Print an OpenAPI document."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    info = described["info"]
    top = _TOP.format(
        style=style,
        title=escape(info["title"]),
        summary=escape(info["summary"]),
        version=escape(info["version"]),
        about=_prose(info["description"]),
    )
    groups = (part for tag in described["tags"] for part in _group(described, tag))
    parts = [top, _contents(described), *groups, *_schemas(described), f"<script>{script}</script></body></html>\n"]
    policy = (
        "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        f"script-src {_hash(script)}; style-src {_hash(style)}"
    )
    return HtmlPage("\n".join(parts), policy)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _prose(text: str) -> str:
    """Text with words in backticks as code."""
    return "".join(
        f"<code>{escape(part)}</code>" if at % 2 else escape(part) for at, part in enumerate(text.split("`"))
    )


def _operations(described: Schema, tag: str) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield path, method.upper(), operation


def _contents(described: Schema) -> str:
    links = [f'<li><a href="#{escape(tag["name"])}">{escape(tag["name"])}</a></li>' for tag in described["tags"]]
    return f'<nav><ul>{"".join(links)}<li><a href="#schemas-of-bodies">schemas of bodies</a></li></ul></nav>'


def _group(described: Schema, tag: Schema) -> Iterator[str]:
    yield f'<h2 id="{escape(tag["name"])}">{escape(tag["name"])}</h2><p>{_prose(tag["description"])}</p>'
    for path, method, operation in _operations(described, tag["name"]):
        parameters = [_follow_reference(described, parameter) for parameter in operation.get("parameters", ())]
        yield (
            f'<details id="{escape(operation["operationId"])}"><summary><code class="method {method}">{method}</code> '
            f"<code>{escape(path)}</code> — {_prose(operation['summary'])}</summary><div><p>{_prose(operation['description'])}</p>"
        )
        yield from _parameters(parameters)
        yield from _body(operation)
        yield from _answers(described, operation)
        yield from _form(path, method, operation, parameters)
        yield "</div></details>"


def _follow_reference(described: Schema, schema: Schema) -> Schema:
    """Follow a reference to what it names."""
    while "$ref" in schema:
        part: Schema = described
        for word in schema["$ref"].removeprefix("#/").split("/"):
            part = part[word]
        schema = part
    return schema


def _parameters(parameters: list[Schema]) -> Iterator[str]:
    if not parameters:
        return
    yield "<h3>Parameters</h3><table><tr><th>name</th><th>in</th><th>is</th><th>meaning</th></tr>"
    for parameter in parameters:
        default = parameter["schema"].get("default")
        default_text = "" if default is None else f", default <code>{escape(json.dumps(default))}</code>"
        yield (
            f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{parameter['in']}</td><td>{_word(parameter['schema'])}{default_text}</td>"
            f"<td>{_prose(parameter['description'])}</td></tr>"
        )
    yield "</table>"


def _body(operation: Schema) -> Iterator[str]:
    if "requestBody" in operation:
        content = next(iter(operation["requestBody"]["content"].values()))
        yield f"<h3>Body: {_word(content['schema'])}</h3><pre>{_print_json(content['example'])}</pre>"


def _answers(described: Schema, operation: Schema) -> Iterator[str]:
    yield "<h3>Answers</h3><table><tr><th>status</th><th>meaning</th><th>body</th></tr>"
    examples = []
    for status, response in operation["responses"].items():
        answer = _follow_reference(described, response)
        content: Schema = next(iter(answer.get("content", {}).values()), {})
        codes = (
            content.get("schema", {}).get("allOf", [{}])[-1].get("properties", {}).get("error_code", {}).get("enum", [])
        )
        codes_text = f", <code>error_code</code> {', '.join(map(str, codes))}" if codes else ""
        word = _word(content["schema"]) + codes_text if content else "none"
        yield f"<tr><td>{status}</td><td>{_prose(answer['description'])}</td><td>{word}</td></tr>"
        if "example" in content and status.startswith("2"):
            examples.append(f"<pre>{_print_json(content['example'])}</pre>")
    yield "</table>"
    yield from examples


def _form(path: str, method: str, operation: Schema, parameters: list[Schema]) -> Iterator[str]:
    """A form that sends the operation. `page.js` shows it and reads its ``data-`` attributes. A path can't be sent without its
    parameters, so these begin with their examples.
    """
    yield f'<form hidden data-method="{method}" data-path="{escape(path)}"><strong>Try it</strong>'
    for parameter in parameters:
        repeated_attribute = ' data-repeated="1"' if parameter["schema"].get("type") == "array" else ""
        value = escape(str(parameter.get("example", ""))) if parameter["in"] == "path" else ""
        yield (
            f'<label>{escape(parameter["name"])} <input name="{escape(parameter["name"])}" data-in="{parameter["in"]}"{repeated_attribute} '
            f'value="{value}"></label>'
        )
    if "requestBody" in operation:
        content = next(iter(operation["requestBody"]["content"].values()))
        yield f"<textarea>{_print_json(content['example'])}</textarea>"
    yield "<button>Send</button><pre hidden></pre></form>"


def _schemas(described: Schema) -> Iterator[str]:
    yield '<h2 id="schemas-of-bodies">schemas of bodies</h2>'
    for name, schema in described["components"]["schemas"].items():
        needed = schema.get("required", ())
        yield (
            f'<details id="schema-{escape(name)}"><summary><code>{escape(name)}</code></summary><div>'
            f"<p>{_prose(schema.get('description', ''))}</p><table><tr><th>member</th><th>is</th></tr>"
        )
        for member, member_schema in schema.get("properties", {}).items():
            always = ", always there" if member in needed else ""
            yield f"<tr><td><code>{escape(member)}</code></td><td>{_word(member_schema)}{always}</td></tr>"
        yield "</table></div></details>"


def _word(schema: Schema) -> str:
    """What a schema allows, in a few words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(PLACE))
        return f'<a href="#schema-{name}">{name}</a>'
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_word(branch) for branch in schema[key])
    if "allOf" in schema:
        return _word(schema["allOf"][0])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(symbol))}</code>" for symbol in schema["enum"])
    kind = schema.get("type", "nothing" if schema.get("not") == {} else "anything")
    if kind == "array":
        pieces = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(map(_word, pieces))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_word(schema['additionalProperties'])}"
    return escape(" or ".join(kind) if isinstance(kind, list) else kind)


def _print_json(value: object) -> str:
    return escape(json.dumps(value, indent=2, ensure_ascii=False), quote=False)
