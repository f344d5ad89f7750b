"""Validators that need no parsed schema: its size, its metadata, and the one that refuses every schema."""

from collections.abc import Iterator

from treaty.core.finding import Diagnostic
from treaty.formats.json_pointer import escape_step
from treaty.formats.validators.validator import Parameters, ValidatedSchema, Validator, Versions, number_of


def _find_size(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    max_size, size = number_of(parameters), len(schema.text.encode("utf-8", "surrogatepass"))
    if size > max_size:
        yield Diagnostic("max-size", "", f"the schema has {size} bytes", f"at most {max_size} bytes")


def _check_names(parameters: Parameters) -> None:
    if not parameters:
        message = "it needs the names of metadata properties as parameters"
        raise ValueError(message)


def _find_missing_metadata(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    for name in parameters:
        if not schema.metadata.get(name, "").strip():
            path = f"/metadata/properties/{escape_step(name)}"
            message = f"the metadata property {name!r} is missing"
            yield Diagnostic("required-metadata", path, message, "a value that is not empty")


def _reject(schema: ValidatedSchema, versions: Versions, parameters: Parameters) -> Iterator[Diagnostic]:
    yield Diagnostic("repo.reject", "", "every schema is refused", "another subject, or a policy without it")


PLAIN_VALIDATORS = (
    Validator(
        "max-size",
        "A schema has at most so many bytes.",
        _find_size,
        number_of,
        parses=False,
        written="max-size(65536)",
    ),
    Validator(
        "required-metadata",
        "Metadata properties with these names are there.",
        _find_missing_metadata,
        _check_names,
        parses=False,
        written="required-metadata(owner,team)",
    ),
    Validator("repo.reject", "Refuses every schema (schema-repo).", _reject, parses=False),
)
"""Validators that need no parsed schema."""
