"""Advice about what is written and has no effect, or not the one that its author had in mind."""

from collections.abc import Iterator
from decimal import Decimal
from difflib import get_close_matches

from treaty.formats.json_pointer import escape_step
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.constraints import KINDS, merge_constraints
from treaty.formats.jsonschema.drafts import KEYWORDS
from treaty.formats.jsonschema.lint.places import NEAR, Advice, list_schemas, make_lint
from treaty.formats.jsonschema.model import Json, JsonSchema
from treaty.formats.jsonschema.references import REFERRING, follow_reference, get_reference, ignores_siblings, own_uri
from treaty.formats.jsonschema.regex import is_match

FORMATS = frozenset(
    [
        "date-time",
        "date",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    ]
)
"""The formats that a draft of the standard names."""

_EVERY = sorted({word for rows in KEYWORDS.values() for word in rows})
_SILENT = frozenset(
    [
        "$ref",
        "$id",
        "id",
        "$schema",
        "$comment",
        "$anchor",
        "definitions",
        "$defs",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    ]
)


def _keyword_unknown(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        rows = KEYWORDS[node.draft.number]
        assert isinstance(node.value, dict)
        for word in node.value:
            if word in _EVERY or word.startswith("x-"):
                continue
            near = get_close_matches(word, rows, 1, 0.8) or [one for one in rows if one.casefold() == word.casefold()]
            if near:
                message = f"the keyword {word!r} does not exist and has no effect; did you mean {near[0]!r}?"
                yield f"{node.place}/{escape_step(word)}", message, repr(near[0])


def _keyword_of_other_draft(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        rows = KEYWORDS[node.draft.number]
        assert isinstance(node.value, dict)
        for word in node.value:
            if word in _EVERY and word not in rows and word not in ("$defs", "id", "readOnly", "writeOnly", "$comment"):
                numbers = [number for number, other in KEYWORDS.items() if word in other]
                message = f"the keyword {word!r} has no effect in the draft {node.draft.uri}"
                yield f"{node.place}/{escape_step(word)}", message, f"a draft that knows it: {_drafts(numbers)}"


def _drafts(numbers: list[int]) -> str:
    names = {2019: "2019-09", 2020: "2020-12"}
    return ", ".join(names.get(number, f"draft-0{number}") for number in numbers)


def _keyword_not_for_type(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        value = node.value
        assert isinstance(value, dict)
        kind = value.get("type")
        kinds = {kind} if isinstance(kind, str) else set(map(str, kind)) if isinstance(kind, list) else set()
        if not kinds or not kinds <= set(KINDS) or ignores_siblings(node):
            continue
        kinds |= {"number"} if "integer" in kinds else set()
        for word in value:
            row_ = KEYWORDS[node.draft.number].get(word)
            if row_ is not None and row_.on and row_.on not in kinds:
                message = f"{word!r} is about values of type {row_.on}, which the type does not allow"
                yield f"{node.place}/{word}", message, f"the type {row_.on}, or no {word!r}"


def _ref_siblings_ignored(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        assert isinstance(node.value, dict)
        beside = [word for word in node.value if word not in _SILENT and word in KEYWORDS[node.draft.number]]
        if ignores_siblings(node) and beside:
            words = ", ".join(map(repr, beside))
            yield (
                f"{node.place}/{beside[0]}",
                f"beside a $ref {words} has no effect",
                "an allOf around both, or 2019-09",
            )


def _required_not_defined(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        assert isinstance(node.value, dict)
        names = node.value.get("required")
        if not isinstance(names, list) or "properties" not in node.value or ignores_siblings(node):
            continue
        merged = merge_constraints(document, [node], NEAR)
        if merged.choices:
            continue
        patterns = [one.place.rpartition("/")[2].replace("~1", "/").replace("~0", "~") for one in merged.patterns]
        for at, name in enumerate(names):
            if (
                isinstance(name, str)
                and name not in merged.properties
                and not any(is_match(one, name) for one in patterns)
            ):
                near = get_close_matches(name, merged.properties, 1, 0.8)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                message = f"the property {name!r} is required and not described{hint}"
                yield f"{node.place}/required/{at}", message, "one of the properties"


def _normalize_numbers(value: Json) -> Json:
    """The same value with numbers in one spelling."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value.normalize()
    if isinstance(value, dict):
        return {name: _normalize_numbers(held) for name, held in value.items()}
    return [_normalize_numbers(item) for item in value] if isinstance(value, list) else value


def _enum_duplicate(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        assert isinstance(node.value, dict)
        values = node.value.get("enum")
        texts: set[str] = set()
        for at, value in enumerate(values if isinstance(values, list) else ()):
            text = print_value(_normalize_numbers(value), ordered=True)
            if text in texts:
                yield f"{node.place}/enum/{at}", f"the value {text:.100} stands twice in the enum", "values that differ"
            texts.add(text)


def _format_unknown(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        assert isinstance(node.value, dict)
        name = node.value.get("format")
        if isinstance(name, str) and name not in FORMATS:
            near = get_close_matches(name, sorted(FORMATS), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            message = (
                f"the format {name!r:.100} is not one of the standard's and has no effect for most validators{hint}"
            )
            yield f"{node.place}/format", message, "a format of the standard, or a pattern"


def _definition_unused(document: JsonSchema) -> Iterator[Advice]:
    used: set[str] = set()
    for node in list_schemas(document):
        for word in REFERRING:
            target = follow_reference(document, node, word) if get_reference(node, word) is not None else None
            if target is not None and target.text_number == 0:
                place = target.place
                while place and place not in used:
                    used.add(place)
                    place = place.rpartition("/")[0]
    for node in list_schemas(document):
        assert isinstance(node.value, dict)
        for word in ("definitions", "$defs"):
            held = node.value.get(word)
            for name, inner in held.items() if isinstance(held, dict) else ():
                place = f"{node.place}/{word}/{escape_step(name)}"
                named = isinstance(inner, dict) and ({"$id", "id", "$anchor", "$dynamicAnchor"} & inner.keys())
                if not named and place not in used:
                    yield place, f"no reference of the text leads to the definition {name!r}", "a use of it, or its end"


def _id_repeated(document: JsonSchema) -> Iterator[Advice]:
    first: dict[str, str] = {}
    for node in list_schemas(document):
        if own_uri(node.value, node.draft) and first.setdefault(node.base, node.place) != node.place:
            message = f"the URI {node.base:.100} names a schema at {first[node.base] or 'the root'} too"
            yield f"{node.place}/{node.draft.identifier}", message, "a URI of its own"


SLIPS = (
    make_lint("KEYWORD_UNKNOWN", "No keyword is a misspelt one of the standard.", _keyword_unknown),
    make_lint(
        "KEYWORD_OF_OTHER_DRAFT", "Every keyword has an effect in the draft of the text.", _keyword_of_other_draft
    ),
    make_lint("KEYWORD_NOT_FOR_TYPE", "Every keyword is about a type that is allowed.", _keyword_not_for_type),
    make_lint("REF_SIBLINGS_IGNORED", "Before 2019-09 nothing stands beside a $ref.", _ref_siblings_ignored),
    make_lint("REQUIRED_NOT_DEFINED", "What is required is described.", _required_not_defined),
    make_lint("ENUM_DUPLICATE", "The values of an enum differ.", _enum_duplicate),
    make_lint("FORMAT_UNKNOWN", "Formats are those of the standard.", _format_unknown),
    make_lint("DEFINITION_UNUSED", "Every definition is used.", _definition_unused),
    make_lint("ID_REPEATED", "A URI names one schema.", _id_repeated),
)
"""Advice about slips."""
