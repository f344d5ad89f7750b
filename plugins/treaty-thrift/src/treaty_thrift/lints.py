"""Advice about schemas: what makes later versions hard."""

from collections.abc import Iterator, Mapping

from treaty.core.finding import Diagnostic
from treaty.formats.rule import LintRule
from treaty_thrift.model import Enum, ThriftSchema


def _required(schema: ThriftSchema) -> Iterator[Diagnostic]:
    for record in schema.records():
        for field in record.fields:
            if field.requiredness == "required":
                said = f"the field {field.name!r} of {record.name} is required"
                yield Diagnostic(
                    "FIELD_REQUIRED", f"/{record.name}/{field.id}", said, "optional: a required field stays forever"
                )


def _unstated(schema: ThriftSchema) -> Iterator[Diagnostic]:
    for record in schema.records():
        for field in record.fields if record.kind == "struct" else ():
            if not field.requiredness:
                said = f"the field {field.name!r} of {record.name} is neither optional nor required"
                yield Diagnostic("REQUIREDNESS_UNSTATED", f"/{record.name}/{field.id}", said, "the word optional")


def _unnumbered(schema: ThriftSchema) -> Iterator[Diagnostic]:
    for definition in schema.document.definitions:
        if isinstance(definition, Enum) and definition.symbols and all(each.number for each in definition.symbols):
            said = f"the enum {definition.name} has no symbol with the number 0"
            yield Diagnostic(
                "ENUM_ZERO_MISSING", f"/{definition.name}", said, "a symbol for what is not known, with the number 0"
            )


_LINTS: tuple[LintRule[ThriftSchema], ...] = (
    LintRule(
        "FIELD_REQUIRED",
        "No field is required: a reader refuses all data without it.",
        lambda schema: tuple(_required(schema)),
    ),
    LintRule(
        "REQUIREDNESS_UNSTATED",
        "Each field of a struct says whether it is optional: languages differ in what they do without the word.",
        lambda schema: tuple(_unstated(schema)),
    ),
    LintRule(
        "ENUM_ZERO_MISSING",
        "An enum has a symbol with the number 0, which languages take for a field that is not set.",
        lambda schema: tuple(_unnumbered(schema)),
    ),
)
LINTS: Mapping[str, LintRule[ThriftSchema]] = {rule.id: rule for rule in _LINTS}
"""Every lint, off unless it is asked for."""
