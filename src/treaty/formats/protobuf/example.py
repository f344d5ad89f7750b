"""Example values of a Protobuf schema in JSON encoding: plausible, finite, the same for the same seed."""

import json
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict

from treaty.core.limits import EXAMPLE_VALUES
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.runtime import create_message, get_first_message
from treaty.formats.seeded_random import SeededRandom

FREE_DEPTH = 3
"""Messages inside each other after which only required fields are set."""
DEPTH = 90
"""Messages inside each other that an example may have at most; readers stop at 100."""

_SECONDS = 1_750_000_000
_WORDS = ("amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor")
_WHOLE = {
    **dict.fromkeys((FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32), -500),
    **dict.fromkeys((FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64), -500_000),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32), 0),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64), 0),
}


def generate_example(schema: ProtoSchema, seed: int) -> str:
    """A value of the first message as JSON text, the same for the same seed.

    Raises `ValueError` for a schema without messages, and for one whose required fields never end, or have too many.
    """
    descriptor = get_first_message(schema)
    if descriptor is None:
        message = "the schema has no message that a value could be of"
        raise ValueError(message)
    value = create_message(descriptor)
    _ExampleGenerator(SeededRandom(seed)).fill(value, descriptor, 1)
    return json.dumps(MessageToDict(value), ensure_ascii=False)


class _ExampleGenerator:
    """Fills messages."""

    __slots__ = ("_count", "_draw")

    def __init__(self, draw: SeededRandom) -> None:
        self._draw = draw
        self._count = 0

    def fill(self, value: Any, descriptor: Descriptor, depth: int) -> None:
        """Set fields of a message, of a oneof one at most."""
        if depth > DEPTH:
            message = f"the message {descriptor.full_name} contains itself by required fields, so no value of it ends"
            raise ValueError(message)
        fill_known = _KNOWN.get(descriptor.full_name)
        if fill_known is not None:
            fill_known(value, self._draw)
            return
        chosen = {oneof.name: self._draw.pick(oneof.fields).name for oneof in descriptor.oneofs}
        for field in descriptor.fields:
            oneof = field.containing_oneof
            free = depth < FREE_DEPTH or (field.message_type is None and depth == FREE_DEPTH)
            is_drawn = free and self._count < EXAMPLE_VALUES and (oneof is None or chosen[oneof.name] == field.name)
            if field.is_required or is_drawn:
                self._count += 1
                if self._count > 2 * EXAMPLE_VALUES:
                    message = f"required fields make a value of more than {2 * EXAMPLE_VALUES} values"
                    raise ValueError(message)
                self._set_field(value, field, depth)

    def _set_field(self, message: Any, field: FieldDescriptor, depth: int) -> None:
        target = field.message_type
        if target is not None and target.GetOptions().map_entry:
            key, value = target.fields_by_name["key"], target.fields_by_name["value"]
            entries = getattr(message, field.name)
            for _ in range(1 + self._draw.below(2)):
                if value.message_type is not None:
                    self.fill(entries[self._scalar(key)], value.message_type, depth + 1)
                else:
                    entries[self._scalar(key)] = self._scalar(value)
        elif field.is_repeated:
            items = getattr(message, field.name)
            for _ in range(1 + self._draw.below(2)):
                if target is not None:
                    self.fill(items.add(), target, depth + 1)
                else:
                    items.append(self._scalar(field))
        elif target is not None:
            inner = getattr(message, field.name)
            inner.SetInParent()
            self.fill(inner, target, depth + 1)
        else:
            setattr(message, field.name, self._scalar(field))

    def _scalar(self, field: FieldDescriptor) -> Any:
        draw = self._draw
        if field.enum_type is not None:
            return draw.pick(field.enum_type.values).number
        if field.type in _WHOLE:
            low = _WHOLE[field.type]
            return low + draw.below(1_000 - low)
        if field.type == FieldDescriptor.TYPE_BOOL:
            return draw.chance(50)
        if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
            return draw.below(4_000) / 8
        text = f"{draw.pick(_WORDS)}-{draw.below(100)}"
        return text if field.type == FieldDescriptor.TYPE_STRING else text.encode()


def _timestamp(message: Any, draw: SeededRandom) -> None:
    message.seconds = _SECONDS + draw.below(31_536_000)


def _duration(message: Any, draw: SeededRandom) -> None:
    message.seconds = draw.below(86_400)


def _any_value(message: Any, draw: SeededRandom) -> None:
    message.string_value = draw.pick(_WORDS)


def _struct(message: Any, draw: SeededRandom) -> None:
    message.fields[draw.pick(_WORDS)].number_value = draw.below(100)


def _list(message: Any, draw: SeededRandom) -> None:
    message.values.add().string_value = draw.pick(_WORDS)


def _mask(message: Any, draw: SeededRandom) -> None:
    message.paths.append(draw.pick(_WORDS))


def _date(message: Any, draw: SeededRandom) -> None:
    message.year, message.month, message.day = 2000 + draw.below(30), 1 + draw.below(12), 1 + draw.below(28)


def _leave_empty(message: Any, draw: SeededRandom) -> None:
    """An ``Any`` that holds no message, since there is none to choose."""


_KNOWN = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
    "google.protobuf.Value": _any_value,
    "google.protobuf.Struct": _struct,
    "google.protobuf.ListValue": _list,
    "google.protobuf.FieldMask": _mask,
    "google.protobuf.Any": _leave_empty,
    "google.type.Date": _date,
}
