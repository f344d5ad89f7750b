"""What a Protobuf message wants at each place, in the form in which its own runtime takes values."""

from collections.abc import Iterator, Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from treaty.core.limits import DECIMAL_DIGITS
from treaty.core.state.columns import Decimal, Scalar
from treaty.formats.protobuf.columns import DECIMAL, KNOWN, PLAIN, WRAPPED, read_digits
from treaty.formats.protobuf.model import Message, ProtoSchema
from treaty.plan.ddl import type_ddl
from treaty.plan.encoding.fit import LossCheck
from treaty.plan.encoding.target import FieldTarget, FindTarget, LeafTarget, ListTarget, MapTarget, RecordTarget, Target

DAYS = LossCheck("range", ("0001-01-01", "9999-12-31"))
INSTANTS = LossCheck("range", ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"))
RANGES: Mapping[str, tuple[int, int]] = {
    "uint32": (0, 2**32 - 1),
    "fixed32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "fixed64": (0, 2**64 - 1),
}
"""By Protobuf's type, the numbers that it holds where its column holds others too."""
_NUMBERS = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}
_TIMES = {
    "google.protobuf.Timestamp": LeafTarget(
        Scalar("timestamp"), (INSTANTS,), carrier="instant", carried="STRUCT<`seconds`: BIGINT, `nanos`: INT>"
    ),
    "google.type.Date": LeafTarget(
        Scalar("date"), (DAYS,), carrier="day", carried="STRUCT<`year`: INT, `month`: INT, `day`: INT>"
    ),
}


def make_targets(schema: ProtoSchema) -> FindTarget:
    """The places of messages and of fields, given by the runtime's descriptors."""
    return _ProtobufTargets(schema).find_target


class _ProtobufTargets:
    __slots__ = ("_schema",)

    def __init__(self, schema: ProtoSchema) -> None:
        self._schema = schema

    def find_target(self, handle: Descriptor | FieldDescriptor | tuple[FieldDescriptor, FieldDescriptor]) -> Target:
        if isinstance(
            handle, tuple
        ):  # one item of a repeated field, or the values of a map; and the field as it was written
            return self._find_value_target(*handle)
        if isinstance(handle, Descriptor):
            oneofs = (tuple(field.name for field in one.fields) for one in handle.oneofs)
            return RecordTarget(handle.full_name, tuple(_members(handle)), tuple(one for one in oneofs if len(one) > 1))
        entry = handle.message_type
        if entry is not None and entry.GetOptions().map_entry:
            key = leaf_of(_NUMBERS[entry.fields_by_name["key"].type])
            return MapTarget(key, (entry.fields_by_name["value"], handle))
        return ListTarget((handle, handle)) if handle.is_repeated else self._find_value_target(handle, handle)

    def _find_value_target(self, field: FieldDescriptor, written: FieldDescriptor) -> Target:
        if field.enum_type is not None:
            names = tuple(one.name for one in field.enum_type.values)
            return LeafTarget(Scalar("string"), (LossCheck("symbols" if field.enum_type.is_closed else "enum", names),))
        if field.message_type is None:
            return leaf_of(_NUMBERS[field.type])
        full = field.message_type.full_name
        if full in WRAPPED:
            inner = leaf_of(WRAPPED[full])
            return LeafTarget(
                inner.type, inner.checks, carrier="wrap", carried=f"STRUCT<`value`: {type_ddl(inner.type)}>"
            )
        if full in _TIMES:
            return _TIMES[full]
        if full in KNOWN:
            return LeafTarget(Scalar("variant"))
        if full == DECIMAL and (digits := self._digits(written)) and digits[0] <= DECIMAL_DIGITS:
            return LeafTarget(Decimal(*digits))
        return self.find_target(field.message_type)

    def _digits(self, field: FieldDescriptor) -> tuple[int, int] | None:
        """Precision and scale, which only the text says."""
        full = field.containing_type.full_name if field.containing_type else ""
        for file in self._schema.files.values():
            symbol = file.symbols.get(full)
            if symbol is not None and isinstance(symbol.node, Message):
                return next(
                    (read_digits(each.options) for each in symbol.node.all_fields if each.name == field.name), None
                )
        return None


def _members(message: Descriptor) -> Iterator[FieldTarget]:
    for field in message.fields:
        yield FieldTarget(field.name, field, nullable=not field.is_required)


def leaf_of(kind: str) -> LeafTarget:
    """A scalar of Protobuf by its name."""
    column_type = PLAIN[kind]
    assert isinstance(column_type, Scalar | Decimal)
    low, high = RANGES.get(kind, (0, 0))
    return LeafTarget(column_type, (LossCheck("range", (str(low), str(high))),) if high else ())
