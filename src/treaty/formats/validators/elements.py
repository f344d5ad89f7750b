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
    for one in schema.elements():
        if one.kind in kinds and one.doc is not None and not one.doc.strip():
            message = f"the {one.word}{f' {one.name!r}' if one.name else ''} has no documentation"
            expected = "a sentence that says what it means"
            yield Diagnostic("documentation", one.path, message, expected, one.line, one.column)


def _find_misnamed(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    styles = dict(pairs_of(parameters, ELEMENT_KINDS, STYLES))
    for one in schema.elements():
        style = styles.get(one.kind)
        if style is not None and one.name and not STYLES[style].fullmatch(one.name):
            yield Diagnostic(
                "naming", one.path, f"the {one.word} is called {one.name!r}", f"a name in {style}", one.line, one.column
            )


def _find_deep(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    most = number_of(parameters)
    for one in schema.elements():
        if one.depth > most:
            message = f"the {one.word} {one.name!r} is nested {one.depth} deep"
            yield Diagnostic("max-depth", one.path, message, f"at most {most}", one.line, one.column)


def _find_removed_fields(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    """Each field once, for the newest version that has it."""
    kept = {one.full for one in schema.elements() if one.kind == "field"}
    for version in versions:
        for one in version.elements():
            if one.kind == "field" and one.full not in kept:
                kept.add(one.full)
                message = f"the {one.word} {one.full!r} of version {version.number} is gone"
                yield Diagnostic("no-removed-fields", one.path, message, "the field, marked as deprecated if need be")


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
