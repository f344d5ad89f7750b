"""`derived`: the draft of a schema that holds the rows of a frame."""

import re
from collections.abc import Callable, Mapping, Sequence

from treaty.core.names import Subject
from treaty.core.schema import Draft, Reference
from treaty.core.state.columns import Column
from treaty.formats.format import InvalidSchemaError
from treaty.plan.encoding.derivation import avro, jsonschema, protobuf
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

Deriver = Callable[[Sequence[Column], str, DeriveOptions, RegisteredSchema | None], str]
"""From columns, the name of a record that has none, the options and the latest version to the text of a schema."""
DERIVERS: Mapping[str, Deriver] = {"AVRO": avro.text, "PROTOBUF": protobuf.text, "JSON": jsonschema.text}
"""By format."""


def derive_text(
    columns: Sequence[Column],
    subject: Subject,
    options: DeriveOptions,
    latest: RegisteredSchema | None,
    references: tuple[Reference, ...],
) -> Draft:
    """The schema of a frame with these columns; fields of the latest version that may be missing stay.

    Raises `PlanError` for columns that the format has no type for, and for a format other than the latest version's.
    """
    format_ = options.schema_type or (latest.format if latest else "AVRO")
    if latest is not None and latest.format != format_:
        raise PlanError(f"{subject} is {latest.format}; a schema of {format_} belongs into a subject of its own")
    deriver = DERIVERS.get(format_)
    if deriver is None:
        raise PlanError(f"no schema of {format_} is derived; of {', '.join(sorted(DERIVERS))} they are")
    try:
        text = deriver(columns, options.name or _name(subject.name), options, latest)
    except InvalidSchemaError as error:
        raise PlanError(f"the columns make no valid schema of {format_}: {error}") from error
    return Draft(text, format_, references if latest else ())


def _name(subject: str) -> str:
    """A name for records: ``flight-delays-value`` becomes ``FlightDelays``."""
    words = re.findall(r"[A-Za-z0-9]+", re.sub(r"-(key|value)$", "", subject))
    record_name = "".join(word[0].upper() + word[1:] for word in words) or "Row"
    return record_name if record_name[0].isalpha() else f"Row{record_name}"
