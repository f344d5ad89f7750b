"""What makes a text no valid schema: its meta-schema, and what meta-schemas can't say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, REGEX_LENGTH, REGEXES, SCHEMA_MEMBERS
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import escape_step, find_positions
from treaty.formats.jsonschema.cycles import find_cycles
from treaty.formats.jsonschema.drafts import meta_schemas
from treaty.formats.jsonschema.model import JsonSchema, JsonSchemaDraft, SchemaNode
from treaty.formats.jsonschema.references import REFERRING, get_reference, locate_schema
from treaty.formats.jsonschema.regex import count_regexes, is_linear
from treaty.formats.jsonschema.repeated import AMBIGUOUS, SharedUris, find_ambiguous
from treaty.formats.jsonschema.uri import join_uri, split_uri

EXPECTED: Mapping[str, str] = {
    "SCHEMA_NOT_READABLE": "an object, true or false",
    "KEYWORD_TYPE_WRONG": "a value of the type that the keyword takes",
    "KEYWORD_VALUE_UNKNOWN": "one of the values that the keyword takes",
    "KEYWORD_OUT_OF_RANGE": "a number in the range that the keyword takes",
    "KEYWORD_EMPTY": "at least one element",
    "KEYWORD_REPEATS": "elements that differ",
    "KEYWORD_NAME_ILLEGAL": "a text of the shape that the keyword takes",
    "KEYWORD_INCOMPLETE": "the keyword that this one needs beside it",
    "URI_ILLEGAL": "a URI reference by RFC 3986; other characters percent-encoded",
    "REGEX_INVALID": "a regular expression of ECMA-262 in Unicode mode",
    "REGEX_TOO_LONG": f"at most {REGEX_LENGTH} characters",
    "REF_UNRESOLVED": "a place in this text, a meta-schema, or the name of a reference to a schema that is registered",
    "REF_DANGLING": "a pointer to a schema, or an anchor, that the text has",
    "REF_AMBIGUOUS": AMBIGUOUS,
    "REF_CYCLE": "a way that passes a property, an item or another part of the value before it comes back",
    "TOO_MANY": "fewer of them, or several schemas with references",
}
"""Rules of a valid schema, and what the text should have had instead."""

_SYNTAX = {
    name: jsonschema_rs.Draft7Validator({"format": name}, validate_formats=True, offline=True)
    for name in ("regex", "uri", "uri-reference")
}

_SMALL = 65_536
"""Characters of a text in which more than one error of the meta-schema is looked for."""
_PROPERTY = re.compile(r"\\(?:[pP]\{([^}]*)\}|.)", re.DOTALL)


def check_document(
    document: JsonSchema, own: Sequence[SchemaNode], blocked: Sequence[tuple[SchemaNode, str]], shared: SharedUris
) -> None:
    """Raise `InvalidSchemaError` with the first faults of a text, in its order.

    `own` are all its schemas, `blocked` the references that lead nowhere.
    """
    root = document.root
    faults: dict[tuple[str, str], Diagnostic] = {}
    ambiguous = {one.path: one for one in find_ambiguous(document, own, shared)}
    unresolved = (_make_unresolved(document, node, to) for node, to in blocked)
    problems = (
        *_meta(root, len(document.written)),
        *_check_nodes(own),
        *ambiguous.values(),
        *(one for one in unresolved if one.path not in ambiguous),
    )
    for fault in problems or find_cycles(document, own):
        faults.setdefault((fault.rule, fault.path), fault)
    if not faults:
        return
    places = find_positions(document.written, {one.path for one in faults.values()})
    placed = [replace(one, line=places[one.path][0], column=places[one.path][1]) for one in faults.values()]
    placed.sort(key=lambda one: (one.line, one.column))
    raise InvalidSchemaError(tuple(placed[:FAULTS]))


@lru_cache(maxsize=8)
def _validator(draft: JsonSchemaDraft) -> Any:
    reference: dict[str, Any] = {"$schema": draft.uri, "$ref": draft.uri}
    assert meta_schemas(draft), "the library has the meta-schemas of every draft built in"
    return jsonschema_rs.validator_for(reference, offline=True)


def _meta(root: SchemaNode, size: int) -> Iterator[Diagnostic]:
    """What the meta-schema says of a text of this size: the library finds all errors or the first one, nothing between."""
    validator, many = _validator(root.draft), size <= _SMALL
    if many and not validator.is_valid(root.value):
        spend(size + size * size // 30_000)
        for error in islice(validator.iter_errors(root.value), FAULTS):
            yield from _explain_error(error)
    elif not many:
        try:
            validator.validate(root.value)
        except jsonschema_rs.ValidationError as error:
            yield from _explain_error(error)


def _explain_error(error: Any) -> Iterator[Diagnostic]:
    """One error of the validator, in our words; of alternatives the one that came furthest."""
    kind = error.kind
    if kind.name == "anyOf":
        inner = [one for branch in kind.context for one in branch]
        deepest = max((len(one.instance_path) for one in inner), default=0)
        if deepest > len(error.instance_path):
            for branch_error in inner:
                if len(branch_error.instance_path) == deepest:
                    yield from _explain_error(branch_error)
                    return
        fitting = next((one for one in inner if one.kind.name not in ("type", "enum", "anyOf")), None)
        if fitting is not None:
            yield from _explain_error(fitting)
            return
        types = dict.fromkeys(name for one in inner if one.kind.name == "type" for name in one.kind.types)
        options = [option for one in inner if one.kind.name == "enum" for option in one.kind.options]
        allowed = [f"one of {', '.join(dict.fromkeys(options))}"] if options else []
        yield _fault(error, "", (*allowed, *types), options)
    elif kind.name == "propertyNames":
        name = kind.error.instance
        path = f"{_path(error)}/{escape_step(str(name))}"
        yield Diagnostic(
            "REGEX_INVALID", path, f"the pattern {_shorten(name)} does not compile", EXPECTED["REGEX_INVALID"]
        )
    else:
        options = list(getattr(kind, "options", ()))
        allowed = [f"one of {', '.join(options)}"] if options else list(getattr(kind, "types", ()))
        yield _fault(error, kind.name, allowed, options)


_RULES = {
    "type": "KEYWORD_TYPE_WRONG",
    "minimum": "KEYWORD_OUT_OF_RANGE",
    "exclusiveMinimum": "KEYWORD_OUT_OF_RANGE",
    "minItems": "KEYWORD_EMPTY",
    "minLength": "KEYWORD_EMPTY",
    "uniqueItems": "KEYWORD_REPEATS",
    "pattern": "KEYWORD_NAME_ILLEGAL",
    "dependencies": "KEYWORD_INCOMPLETE",
    "dependentRequired": "KEYWORD_INCOMPLETE",
    "required": "KEYWORD_INCOMPLETE",
}


def _fault(error: Any, keyword: str, allowed: Sequence[str], options: Sequence[str]) -> Diagnostic:
    value = error.instance
    if keyword == "format":
        rule = "REGEX_INVALID" if error.kind.format == "regex" else "URI_ILLEGAL"
        return Diagnostic(rule, _path(error), f"{_shorten(value)} is not a {error.kind.format}", EXPECTED[rule])
    rule = "KEYWORD_VALUE_UNKNOWN" if options or not (keyword or allowed) else _RULES.get(keyword, "KEYWORD_TYPE_WRONG")
    path = error.instance_path
    where = next((str(step) for step in reversed(path) if isinstance(step, str)), "")
    message = f"{_shorten(value)} can't stand under {where!r}" if where else f"{_shorten(value)} is not a schema"
    expected = " or ".join(allowed) or EXPECTED[rule]
    if isinstance(value, str) and (near := get_close_matches(value, options, 1)):
        message += f"; did you mean {near[0]!r}?"
    if rule == "KEYWORD_OUT_OF_RANGE":
        expected = f"{'more than' if keyword == 'exclusiveMinimum' else 'at least'} {error.kind.limit}"
    elif rule == "KEYWORD_NAME_ILLEGAL":
        expected = f"a text that matches {error.kind.pattern}"
    elif rule == "KEYWORD_INCOMPLETE":
        expected = f"{error.kind.property!r} beside it"
    return Diagnostic(rule, _path(error), message, expected)


def _path(error: Any) -> str:
    return "".join(f"/{escape_step(str(step))}" for step in error.instance_path)


def _shorten(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array" if value else "an empty array"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else f"{value[:60]}…")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value!s:.60}"


def _check_nodes(nodes: Sequence[SchemaNode]) -> Iterator[Diagnostic]:
    """What can be seen at one schema alone, and how many expressions there are."""
    if (total := sum(count_regexes(node.value) for node in nodes)) > REGEXES:
        message = f"{total} regular expressions, more than the limit REGEXES of {REGEXES}"
        yield Diagnostic("TOO_MANY", "", message, EXPECTED["TOO_MANY"])
        return
    spend(20 * total)
    for node in nodes:
        value = node.value
        if not isinstance(value, dict):
            continue
        for word, held in value.items():
            if isinstance(held, list | dict) and len(held) > SCHEMA_MEMBERS:
                message = f"{len(held)} members under {word!r}, more than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
                yield Diagnostic("TOO_MANY", f"{node.place}/{escape_step(word)}", message, EXPECTED["TOO_MANY"])
            elif word == "pattern" and isinstance(held, str):
                yield from _regex(held, f"{node.place}/pattern")
            elif word == "patternProperties" and isinstance(held, dict):
                for regex in held:
                    yield from _regex(regex, f"{node.place}/patternProperties/{escape_step(regex)}")
            elif isinstance(held, str) and (word in REFERRING or word == node.draft.identifier):
                yield from _uri(held, "uri-reference", f"{node.place}/{word}")
            elif word == "$ref" and not isinstance(held, str):
                # the meta-schema of draft 4 does not know the keyword
                yield Diagnostic(
                    "KEYWORD_TYPE_WRONG", f"{node.place}/$ref", f"{_shorten(held)} can't stand under '$ref'", "string"
                )
            elif word == "$schema" and isinstance(held, str) and not node.place:
                yield from _uri(held, "uri", "/$schema")


def _regex(regex: str, path: str) -> Iterator[Diagnostic]:
    if len(regex) > REGEX_LENGTH:
        message = f"a regular expression of {len(regex)} characters, more than the limit REGEX_LENGTH of {REGEX_LENGTH}"
        yield Diagnostic("REGEX_TOO_LONG", path, message, EXPECTED["REGEX_TOO_LONG"])
    elif not _SYNTAX["regex"].is_valid(regex) or not all(map(_exists, _PROPERTY.findall(regex))):
        yield Diagnostic("REGEX_INVALID", path, f"{_shorten(regex)} is not a regex", EXPECTED["REGEX_INVALID"])


@lru_cache(maxsize=512)
def _exists(words: str) -> bool:
    """Whether a property of characters exists; the empty text stands for another escape."""
    return not words or is_linear(f"\\p{{{words}}}")


def _uri(text: str, syntax: str, path: str) -> Iterator[Diagnostic]:
    if not _SYNTAX[syntax].is_valid(text):
        yield Diagnostic("URI_ILLEGAL", path, f"{_shorten(text)} is not a {syntax}", EXPECTED["URI_ILLEGAL"])


def _make_unresolved(document: JsonSchema, node: SchemaNode, to: str) -> Diagnostic:
    word = next(word for word in REFERRING if get_reference(node, word) == to)
    path = f"{node.place}/{word}"
    before, fragment = split_uri(to)
    if locate_schema(document, node, before) is not None:
        message = f"{_shorten(to)} leads to a text that has no schema at {_shorten('#' + fragment)}"
        return Diagnostic("REF_DANGLING", path, message, EXPECTED["REF_DANGLING"])
    message = (
        f"{_shorten(to)} leads to {_shorten(join_uri(node.base, before))}, which is not known here and never fetched"
    )
    name = _shorten(before)
    return Diagnostic("REF_UNRESOLVED", path, message, f"a reference of the name {name} to a schema that is registered")
