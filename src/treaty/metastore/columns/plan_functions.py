"""Functions of plans that columns and schemas need, each loaded when it is first called: most statements, such as listings, need none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treaty.core.names import Subject
from treaty.core.schema import Draft, Reference
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns

if TYPE_CHECKING:
    from treaty.plan.encoding.options import DeriveOptions
    from treaty.plan.registered_schema import RegisteredSchema


def derive_decoded_columns(schema: ResolvedSchema, *, message: str = "") -> Columns:
    """Return the columns of a decoded row, as `treaty.plan.decoded_columns` has it."""
    from treaty.plan.decoded_columns import derive_decoded_columns as derive  # noqa: PLC0415 (all formats and planners)

    return derive(schema, message=message)


def derive_text(
    columns: Sequence[Column],
    subject: Subject,
    options: "DeriveOptions",
    latest: "RegisteredSchema | None",
    references: tuple[Reference, ...],
) -> Draft:
    """Return a schema of columns, as `treaty.plan.encoding.derivation.texts` has it."""
    from treaty.plan.encoding.derivation.texts import derive_text as derive  # noqa: PLC0415 (all formats)

    return derive(columns, subject, options, latest, references)


def parse_resolved(schema: ResolvedSchema) -> Any:
    """Return the model of a schema, as `treaty.plan.registry_queries` has it."""
    from treaty.plan.registry_queries import parse_resolved as parse  # noqa: PLC0415 (the format of the schema)

    return parse(schema)


def list_renames(old: ResolvedSchema, new: ResolvedSchema, *, message: str = "") -> tuple[tuple[str, str], ...]:
    """Return the columns that a newer schema calls otherwise, as `treaty.metastore.columns.renames` has it."""
    from treaty.metastore.columns.renames import list_renames as find  # noqa: PLC0415 (formats with renames)

    return find(old, new, message=message)
