"""Validators: requirements of a policy on every new schema, shipped and by entry point `treaty.validators`."""

from treaty.formats.format import SchemaElement
from treaty.formats.validators.validator import ValidatedSchema, Validator

__all__ = ["SchemaElement", "ValidatedSchema", "Validator"]
