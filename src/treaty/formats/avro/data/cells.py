"""Cells of columns: how many places one value of an Avro type has as Arrow columns, whether it fills them or not."""

from dataclasses import dataclass, field

from treaty.formats.avro.model import AvroRecord, AvroSchema, AvroType, AvroUnion


@dataclass(slots=True)
class CellCounts:
    """Counts the cells of types of one schema, up to the next list or map; a record inside itself has none there."""

    schema: AvroSchema
    _known: dict[str, int] = field(default_factory=dict)

    def count(self, node: AvroType) -> int:
        """The cells of one value of a type: of a record those of all its fields, of a union those of all its types."""
        match self.schema.resolve(node):
            case AvroRecord() as record:
                if record.full not in self._known:
                    self._known[record.full] = 0
                    self._known[record.full] = 1 + sum(self.count(inner.type) for inner in record.fields)
                return self._known[record.full]
            case AvroUnion() as union:
                return sum(map(self.count, union.branches))
        return 1
