"""Writers of one shape share a branch: versions that differ in docs, defaults or names only are read alike."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import AvroSchema
from treaty.plan.avro.fitted_writer import FittedWriter, fit_writer


@dataclass(slots=True)
class WriterShapes:
    """The shapes of writers as a reader sees them, in the order of their branches."""

    reader: AvroSchema
    fitted: list[FittedWriter] = field(default_factory=list)
    places: dict[Hashable, int] = field(default_factory=dict)

    def fit(self, writer: AvroSchema) -> FittedWriter:
        """The writer fitted to the reader, under names that no branch has."""
        return fit_writer(writer, self.reader, "w")

    def place(self, writer: AvroSchema, seen: FittedWriter) -> int:
        """The branch of a writer that was looked at: that of its shape, or a new one."""
        text = print_schema(AvroSchema(seen.root, seen.names))
        key = (text, seen.aliases, seen.hidden, seen.extra)
        if key not in self.places:
            self.places[key] = len(self.fitted)
            self.fitted.append(fit_writer(writer, self.reader, f"w{len(self.fitted)}"))
        return self.places[key]
