"""Checks of one schema by Iglu's linter (igluctl, schema-ddl) by their names and severities, and those that a server leaves out."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.limits import FAULTS, IGLU_FINDINGS
from treaty.formats.json_pointer import escape_step
from treaty.formats.jsonschema.data.draft4 import SchemaIssuesError, compile_draft4
from treaty.formats.jsonschema.drafts import HOLDING, KEYWORDS

LintLevel = Literal["ERROR", "WARNING", "INFO"]
Node = Mapping[str, Any]
LONGEST_TEXT = 65_535
"""Bytes of the longest text column of Redshift."""
FORMATS = frozenset({"uri", "ipv4", "ipv6", "email", "date-time", "date", "hostname", "uuid"})
"""Formats that Iglu's tools know."""
_NUMERIC = ("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TEXT = ("minLength", "maxLength", "pattern", "format")
_ARRAY = ("items", "additionalItems", "minItems", "maxItems", "uniqueItems")
_OBJECT = (
    "properties",
    "additionalProperties",
    "required",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "dependencies",
)
_BIGQUERY_ILLEGAL_START = ("_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER")
_BIGQUERY_NAME = re.compile(r"[A-Za-z0-9_\-.$]*")
_SELF = {
    "vendor": re.compile(r"[A-Za-z0-9_.-]+"),
    "name": re.compile(r"[A-Za-z0-9_-]+"),
    "format": re.compile(r"[A-Za-z0-9_-]+"),
    "version": re.compile(r"[0-9]+-[0-9]+-[0-9]+"),
}


class LintFinding(NamedTuple):
    """What a check found: where (a JSON pointer), and a sentence."""

    check: str
    level: LintLevel
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class LintCheck:
    """A check: its name, its level, and what it finds in one schema of a document; `root` is for the outermost one alone."""

    name: str
    level: LintLevel
    find: Callable[[Node], Iterator[tuple[str, str]]]
    """Yields a pointer from the schema on, and a sentence."""
    root: bool = False


# ------------------------------------------------------------------------------------------------------------ types


def _types(node: Node) -> frozenset[str]:
    word = node.get("type")
    return frozenset((word,) if isinstance(word, str) else word if isinstance(word, list) else ())


def _number(node: Node, word: str) -> float | None:
    value = node.get(word)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _order(low: str, high: str) -> Callable[[Node], Iterator[tuple[str, str]]]:
    def find(node: Node) -> Iterator[tuple[str, str]]:
        lower, upper = _number(node, low), _number(node, high)
        if lower is not None and upper is not None and lower > upper:
            yield "", f"{low} {lower} is greater than {high} {upper}; nothing can be valid"

    return find


def _find_misplaced(
    words: tuple[str, ...], fitting_types: frozenset[str], what: str
) -> Callable[[Node], Iterator[tuple[str, str]]]:
    def find(node: Node) -> Iterator[tuple[str, str]]:
        types = _types(node)
        held = [word for word in words if word in node]
        if types and held and not types & fitting_types:
            type_names = ", ".join(sorted(types))
            yield "", f"{', '.join(held)} {'is' if len(held) == 1 else 'are'} for {what}, and the type is {type_names}"

    return find


# ----------------------------------------------------------------------------------------------------------- errors


def _required_exists(node: Node) -> Iterator[tuple[str, str]]:
    required, properties = node.get("required"), node.get("properties", {})
    if node.get("additionalProperties") is not False or node.get("patternProperties") or not isinstance(required, list):
        return
    missing = [str(one) for one in required if one not in properties]
    if missing:
        yield "", f"required names {', '.join(missing)}, which no property is called, and others are not allowed"


def _schema_uri(node: Node) -> Iterator[tuple[str, str]]:
    if node.get("$schema", SELF_DESCRIBING) != SELF_DESCRIBING:
        yield "/$schema", f"$schema is not Iglu's meta-schema; allowed is {SELF_DESCRIBING}"


# --------------------------------------------------------------------------------------------------------- warnings


def _root_object(node: Node) -> Iterator[tuple[str, str]]:
    if _types(node) != {"object"} or not isinstance(node.get("properties"), Mapping):
        yield "", "the outermost schema is no object with properties"


def _long_text(node: Node) -> Iterator[tuple[str, str]]:
    longest = _number(node, "maxLength")
    if longest is not None and longest > LONGEST_TEXT:
        yield "", f"maxLength {longest} is greater than {LONGEST_TEXT}, which a column of Redshift holds"


def _unknown_format(node: Node) -> Iterator[tuple[str, str]]:
    word = node.get("format")
    if isinstance(word, str) and word not in FORMATS:
        yield "", f"the format {word[:100]} is not known; known are {', '.join(sorted(FORMATS))}"


def _number_range(node: Node) -> Iterator[tuple[str, str]]:
    if _types(node) & {"number", "integer"} and "enum" not in node:
        missing = [word for word in ("minimum", "maximum") if word not in node]
        if missing:
            yield "", f"a number has no {' and no '.join(missing)}"


def _text_length(node: Node) -> Iterator[tuple[str, str]]:
    if "string" in _types(node) and not {"maxLength", "enum", "format"} & set(node):
        yield "", "a text has no maxLength, enum or format"


def _properties(node: Node) -> Iterator[tuple[str, Any]]:
    held = node.get("properties")
    if isinstance(held, Mapping):
        yield from held.items()


def _disallowed_characters(node: Node) -> Iterator[tuple[str, str]]:
    for name, _ in _properties(node):
        if _BIGQUERY_NAME.fullmatch(name) is None:
            yield (
                f"/properties/{escape_step(name)}",
                f"the name {name[:100]!r} has characters that BigQuery does not allow",
            )


def _illegal_start(node: Node) -> Iterator[tuple[str, str]]:
    for name, _ in _properties(node):
        if name.upper().startswith(_BIGQUERY_ILLEGAL_START):
            yield f"/properties/{escape_step(name)}", f"the name {name[:100]!r} begins as no column of BigQuery may"


def _remote_reference(node: Node) -> Iterator[tuple[str, str]]:
    to = node.get("$ref")
    if isinstance(to, str) and not to.startswith("#"):
        yield "/$ref", f"{to[:200]} is never fetched: it allows everything"


# -------------------------------------------------------------------------------------------------------------- infos


def _optional_null(node: Node) -> Iterator[tuple[str, str]]:
    required = node.get("required")
    needed = required if isinstance(required, list) else []
    for name, inner in _properties(node):
        if name in needed or not isinstance(inner, Mapping):
            continue
        enum = inner.get("enum")
        if _types(inner) and "null" not in _types(inner) and not (isinstance(enum, list) and None in enum):
            yield f"/properties/{escape_step(name)}", f"the property {name[:100]!r} is optional, and can't be null"


def _description(node: Node) -> Iterator[tuple[str, str]]:
    for name, inner in _properties(node):
        if isinstance(inner, Mapping) and not isinstance(inner.get("description"), str):
            yield f"/properties/{escape_step(name)}", f"the property {name[:100]!r} has no description"


CHECKS: tuple[LintCheck, ...] = (
    LintCheck("numericMinimumMaximum", "ERROR", _order("minimum", "maximum")),
    LintCheck("stringMinMaxLength", "ERROR", _order("minLength", "maxLength")),
    LintCheck("arrayMinMaxItems", "ERROR", _order("minItems", "maxItems")),
    LintCheck("numericProperties", "ERROR", _find_misplaced(_NUMERIC, frozenset({"number", "integer"}), "numbers")),
    LintCheck("stringProperties", "ERROR", _find_misplaced(_TEXT, frozenset({"string"}), "texts")),
    LintCheck("arrayProperties", "ERROR", _find_misplaced(_ARRAY, frozenset({"array"}), "arrays")),
    LintCheck("objectProperties", "ERROR", _find_misplaced(_OBJECT, frozenset({"object"}), "objects")),
    LintCheck("requiredPropertiesExist", "ERROR", _required_exists),
    LintCheck("schemaUri", "ERROR", _schema_uri, root=True),
    LintCheck("rootObject", "WARNING", _root_object, root=True),
    LintCheck("stringMaxLengthRange", "WARNING", _long_text),
    LintCheck("unknownFormats", "WARNING", _unknown_format),
    LintCheck("numericMinMax", "WARNING", _number_range),
    LintCheck("stringLength", "WARNING", _text_length),
    LintCheck("bqDisallowedCharacters", "WARNING", _disallowed_characters),
    LintCheck("bqIllegalStart", "WARNING", _illegal_start),
    LintCheck("remoteReference", "WARNING", _remote_reference),
    LintCheck("optionalNull", "INFO", _optional_null),
    LintCheck("description", "INFO", _description),
)
"""All checks of a schema by itself. Errors can't be skipped; `remoteReference` is Treaty's own."""
SYNTAX = "syntax"
"""The name of what the meta-schema finds, which can't be skipped."""
UNKNOWN_KEYWORDS = "unknownKeywords"
"""The name of what no keyword of draft 4 explains."""
SKIPPABLE: frozenset[str] = frozenset(one.name for one in CHECKS if one.level != "ERROR") | {UNKNOWN_KEYWORDS}
SKIPPED_BY_SERVERS = frozenset(
    ("optionalNull", "description", "numericMinMax", "stringLength", "bqDisallowedCharacters", "bqIllegalStart")
)
"""Advice that the validation of a server does not give; `treaty iglu lint` does."""


def lint_document(document: Any, depth: int, skip: Collection[str] = ()) -> list[LintFinding]:
    """Return what the checks find in a self-describing schema, errors first; at most `IGLU_FINDINGS`.

    A document that is no schema of draft 4 has only findings of its syntax. `skip` names checks that are left out.
    """
    findings = [*_syntax(document, depth)]
    if any(one.level == "ERROR" for one in findings) or not isinstance(document, Mapping):
        return findings[:FAULTS]
    if UNKNOWN_KEYWORDS in skip:
        findings = []
    for pointer, node in _schemas(document):
        for check in CHECKS:
            if check.name in skip or (check.root and pointer):
                continue
            findings.extend(
                LintFinding(check.name, check.level, pointer + where, message) for where, message in check.find(node)
            )
    rank = {"ERROR": 0, "WARNING": 1, "INFO": 2}
    return sorted(findings, key=lambda one: rank[one.level])[:IGLU_FINDINGS]


def _syntax(document: Any, depth: int) -> Iterator[LintFinding]:
    try:
        compile_draft4(document, depth)
    except SchemaIssuesError as error:
        for issue in error.issues:
            yield LintFinding(SYNTAX, "ERROR", _pointer_of(issue.path), issue.message)
        return
    if not isinstance(document, Mapping):
        yield LintFinding(SYNTAX, "ERROR", "", "a schema is a JSON object")
        return
    yield from _self_faults(document)
    for pointer, node in _schemas(document):
        own = {"self", "$supersedes", "$supersededBy"} if not pointer else set()
        unknown = sorted(set(node) - set(KEYWORDS[4]) - own)
        if unknown:
            yield LintFinding(
                UNKNOWN_KEYWORDS, "WARNING", pointer, f"draft 4 has no keyword {', '.join(unknown)[:200]}"
            )


def _self_faults(document: Node) -> Iterator[LintFinding]:
    own = document.get("self")
    if own is None:
        return
    if not isinstance(own, Mapping) or set(own) != set(_SELF):
        yield LintFinding(SYNTAX, "ERROR", "/self", f"self has other members than {', '.join(_SELF)}")
        return
    for word, pattern in _SELF.items():
        if not isinstance(own[word], str) or pattern.fullmatch(own[word]) is None:
            yield LintFinding(SYNTAX, "ERROR", f"/self/{word}", f"{str(own[word])[:100]!r} is no {word}")
    superseded = document.get("$supersedes", [])
    texts = isinstance(superseded, list) and all(
        isinstance(version, str) and _SELF["version"].fullmatch(version) for version in superseded
    )
    if not texts:
        yield LintFinding(SYNTAX, "ERROR", "/$supersedes", "$supersedes is no list of versions")


def _pointer_of(path: str) -> str:
    """Return the pointer of a path such as ``$.a[1]``."""
    return "".join(f"/{escape_step(step)}" for step in re.split(r"[.\[\]]+", path.removeprefix("$")) if step)


def _schemas(document: Node) -> Iterator[tuple[str, Node]]:
    """Yield every schema of a document with its pointer."""
    waiting: list[tuple[str, Any]] = [("", document)]
    holding = HOLDING[4]
    while waiting:
        pointer, node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        yield pointer, node
        inner: list[tuple[str, Any]] = []
        for word, held in node.items():
            row = holding.get(word)
            if row is None or row.holds == "value":
                continue
            if isinstance(held, list):
                inner.extend((f"{pointer}/{word}/{at}", one) for at, one in enumerate(held))
            elif row.holds in {"map", "dependencies"} and isinstance(held, Mapping):
                inner.extend((f"{pointer}/{word}/{escape_step(name)}", one) for name, one in held.items())
            elif row.holds in {"schema", "items"}:
                inner.append((f"{pointer}/{word}", held))
        waiting.extend(reversed(inner))
