"""Validators about the named parts of a schema: documentation, names, nesting, and fields that are gone."""

import re
from collections.abc import Iterator, Mapping

from treaty.core.finding import Diagnostic
from treaty.formats.format import ELEMENT_KINDS
from treaty.formats.validators.validator import (
    Parameters,
    ValidatedSchema,
    Validator,
    Versions,
    number_of,
    pairs_of,
    words_of,
)

DOCUMENTED = ("type", "field")
"""Kinds of elements that need documentation where no parameter names others."""
STYLES: Mapping[str, re.Pattern[str]] = {
    "snake_case": re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"),
    "camelCase": re.compile(r"[a-z][A-Za-z0-9]*"),
    "PascalCase": re.compile(r"[A-Z][A-Za-z0-9]*"),
    "UPPER_SNAKE_CASE": re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*"),
    "kebab-case": re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"),
}
"""Styles of names."""


def _find_undocumented(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    kinds = parameters or DOCUMENTED
    for element in schema.elements():
        if element.kind in kinds and element.doc is not None and not element.doc.strip():
            message = f"the {element.word}{f' {element.name!r}' if element.name else ''} has no documentation"
            expected = "a sentence that says what it means"
            yield Diagnostic("documentation", element.path, message, expected, element.line, element.column)


def _find_misnamed(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    styles = dict(pairs_of(parameters, ELEMENT_KINDS, STYLES))
    for element in schema.elements():
        style = styles.get(element.kind)
        if style is not None and element.name and not STYLES[style].fullmatch(element.name):
            yield Diagnostic(
                "naming",
                element.path,
                f"the {element.word} is called {element.name!r}",
                f"a name in {style}",
                element.line,
                element.column,
            )


def _find_deep(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    max_depth = number_of(parameters)
    for element in schema.elements():
        if element.depth > max_depth:
            message = f"the {element.word} {element.name!r} is nested {element.depth} deep"
            yield Diagnostic("max-depth", element.path, message, f"at most {max_depth}", element.line, element.column)


def _find_removed_fields(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    """Each field once, for the newest version that has it."""
    reported = {one.full for one in schema.elements() if one.kind == "field"}
    for version in versions:
        for element in version.elements():
            if element.kind == "field" and element.full not in reported:
                reported.add(element.full)
                message = f"the {element.word} {element.full!r} of version {version.number} is gone"
                yield Diagnostic(
                    "no-removed-fields", element.path, message, "the field, marked as deprecated if need be"
                )


ELEMENT_VALIDATORS = (
    Validator(
        "documentation",
        "Types and fields have documentation, or the kinds of elements that it names.",
        _find_undocumented,
        lambda parameters: words_of(parameters, ELEMENT_KINDS),
        written="documentation(type,field)",
    ),
    Validator(
        "naming",
        "Names of these kinds of elements have a style.",
        _find_misnamed,
        lambda parameters: [*pairs_of(parameters, ELEMENT_KINDS, STYLES)],
        written="naming(type=PascalCase,field=snake_case)",
    ),
    Validator("max-depth", "Fields are nested at most so deep.", _find_deep, number_of, written="max-depth(5)"),
    Validator(
        "no-removed-fields",
        "A field of a version in the policy's range stays.",
        _find_removed_fields,
        reads_versions=True,
    ),
)
"""Validators about the named parts of a schema."""
