"""Writers that a reader reads in part: Avro rejects an enum symbol or union branch only when a value has it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from treaty.core.finding import Finding
from treaty.formats.avro.model import ABSENT, AvroArray, AvroEnum, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion
from treaty.formats.avro.resolution import AvroResolution, find_contested, find_named_reader, may_read, pair_fields
from treaty.formats.avro.rules import (
    FIXED_SIZE_MISMATCH,
    MISSING_ENUM_SYMBOLS,
    MISSING_UNION_BRANCH,
    READER_FIELD_MISSING_DEFAULT_VALUE,
    TYPE_MISMATCH,
)

BY_VALUE = frozenset(
    rule.id
    for rule in (
        FIXED_SIZE_MISMATCH,
        MISSING_ENUM_SYMBOLS,
        MISSING_UNION_BRANCH,
        READER_FIELD_MISSING_DEFAULT_VALUE,
        TYPE_MISMATCH,
    )
)
"""Rules that Avro's resolver applies to a value where it stands; whatever breaks another one makes no row of the writer
readable.
"""


def takes_some(reader: AvroSchema, writer: AvroSchema, findings: Sequence[Finding]) -> bool:
    """Whether some values of the writer can be read, though the comparison has `findings` against it."""
    if any(one.rule not in BY_VALUE for one in findings):
        return False
    return _Chances(writer, reader, AvroResolution(writer, reader)).passes(writer.root, reader.root)


@dataclass(slots=True)
class _Chances:
    """Looks for a value that passes; a pair that is being looked at further out counts as one that has some."""

    writer: AvroSchema
    reader: AvroSchema
    resolution: AvroResolution
    known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def passes(self, writer: AvroType, reader: AvroType) -> bool:
        old, new = self.writer.resolve(writer), self.reader.resolve(reader)
        if isinstance(new, AvroUnion):
            parts = old.branches if isinstance(old, AvroUnion) else (writer,)
            places = self.resolution.find_places(writer, new)
            return any(
                place is not None and self.passes(part, new.branches[place])
                for part, place in zip(parts, places, strict=True)
            )
        if isinstance(old, AvroUnion):
            return any(self.passes(part, reader) for part in old.branches)
        match old, new:
            case (AvroArray(), AvroArray()) | (AvroMap(), AvroMap()):
                return True  # an empty one
            case (AvroRecord(), AvroRecord()):
                key = (old.full, new.full)
                if key not in self.known:
                    self.known[key] = True
                    self.known[key] = self._fields(old, new)
                return self.known[key]
            case (AvroEnum(), AvroEnum()):
                shared = new.default is not None or not set(old.symbols).isdisjoint(new.symbols)
                return shared and find_named_reader(old, new) is not None
        return may_read(old, new)

    def _fields(self, old: AvroRecord, new: AvroRecord) -> bool:
        pairs = pair_fields(old, new)
        filled = {one.name for one in pairs.values()}
        if any(one.default is ABSENT and one.name not in filled for one in new.fields):
            return False
        if find_contested(old, new) is not None:
            return False
        return all(self.passes(one.type, pairs[one.name].type) for one in old.fields if one.name in pairs)
