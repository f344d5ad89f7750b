"""Options in normal form: sorted, custom ones under their full names and as one message where they are one."""

from math import copysign

from treaty.formats.protobuf.encoding.interpreted_options import InterpretedOptions
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Field,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
    SignedZero,
    find_symbol,
)
from treaty.formats.protobuf.syntax.constants import merge_members
from treaty.formats.protobuf.validation.options import get_scope

PARTS = 30
"""Parts of an option's name up to which it is written as one message; a longer name stays as it is."""


class CustomOptions:
    """What the options of one schema mean."""

    __slots__ = ("_interpreted", "_known", "_schema")

    def __init__(self, schema: ProtoSchema) -> None:
        """Names are looked up among those that the schema offers to options, or sees."""
        self._schema = schema
        self._interpreted = InterpretedOptions(schema)
        self._known: dict[tuple[str, str], ProtoSymbol | None] = {}

    def normalize(self, options: tuple[ProtoOption, ...], kind: str, full: str) -> tuple[ProtoOption, ...]:
        """Options of the definition `full`, which is of this kind (``file``, ``field`` and so on), in normal form.

        Their values are those that a descriptor has of them, so a text and its descriptor have one normal form.
        """
        scope = get_scope(self._schema, full)
        options = self._interpreted.interpret(options, kind, full)
        by_name: dict[str, list[ProtoOption]] = {}
        for option in sorted((self._complete_option(part, scope) for part in options), key=get_sort_name):
            by_name.setdefault(get_sort_name(option), []).append(option)
        return tuple(
            ProtoOption(option.name, self._constant(option.value, scope))
            for same in by_name.values()
            for option in self._unite_parts(same)
        )

    def _unite_parts(self, same: list[ProtoOption]) -> list[ProtoOption]:
        """Options of one name: parts of one message become one option."""
        pieces = [one.value for one in same if isinstance(one.value, AggregateValue)]
        if len(same) == 1 or len(pieces) < len(same) or self._is_repeated(same[0].name[0]):
            return same
        return [ProtoOption(same[0].name, _merge_messages(pieces))]

    def _complete_option(self, option: ProtoOption, scope: str) -> ProtoOption:
        """An option under its full name; one about a part of a message becomes a message with that part."""
        first = option.name[0]
        if not first.startswith("(") or len(option.name) > PARTS:
            return option
        value = option.value
        for part in reversed(option.name[1:]):
            inner = f"[{self._full_name(part[1:-1], scope)}]" if part.startswith("(") else part
            value = AggregateValue(((inner, value),))
        return ProtoOption((f"({self._full_name(first[1:-1], scope)})",), value)

    def _extension(self, written: str, scope: str) -> ProtoSymbol | None:
        key = (scope, written)
        if key not in self._known:
            extension = find_symbol(self._schema.offered, scope, written) or find_symbol(
                self._schema.visible, scope, written
            )
            self._known[key] = extension if extension is not None and extension.kind == "extension" else None
        return self._known[key]

    def _full_name(self, written: str, scope: str) -> str:
        extension = self._extension(written, scope)
        return extension.full if extension is not None else written

    def _is_repeated(self, full: str) -> bool:
        extension = self._extension(f".{full[1:-1]}", "")
        return extension is None or not isinstance(extension.node, Field) or extension.node.label == "repeated"

    def _constant(self, value: Constant, scope: str) -> Constant:
        """A value in normal form: members sorted, none that is an empty list, no list of one, whole numbers whole."""
        if (
            isinstance(value, float)
            and value.is_integer()
            and abs(value) < 2**53
            and (value or copysign(1.0, value) > 0)
        ):
            return int(value)
        if isinstance(value, SignedZero):
            return 0
        if isinstance(value, tuple):
            items = tuple(self._constant(one, scope) for one in value)
            return items[0] if len(items) == 1 else items
        if not isinstance(value, AggregateValue):
            return value
        members: dict[str, Constant] = {}
        for key, constant in merge_members(value):
            if constant != ():
                members[self._member(key, scope)] = self._constant(constant, scope)
        return AggregateValue(tuple(sorted(members.items(), key=lambda member: member[0])))

    def _member(self, key: str, scope: str) -> str:
        return f"[{self._full_name(key[1:-1], scope)}]" if key.startswith("[") and "/" not in key else key


def get_sort_name(option: ProtoOption) -> str:
    """The name by which options are sorted: an extension's without parentheses."""
    first = option.name[0]
    return first[1:-1] if first.startswith("(") else ".".join(option.name)


def _merge_messages(pieces: list[AggregateValue]) -> AggregateValue:
    """The members of all; messages that were written part by part become one."""
    parts: dict[str, list[AggregateValue]] = {}
    members: list[tuple[str, Constant]] = []
    for piece in pieces:
        if len(piece.members) == 1 and isinstance(inner := piece.members[0][1], AggregateValue):
            key = piece.members[0][0]
            if key not in parts:
                members.append((key, inner))
            parts.setdefault(key, []).append(inner)
        else:
            members += piece.members
    merged = {key: _merge_messages(several) for key, several in parts.items() if len(several) > 1}
    return AggregateValue(tuple((key, merged.get(key, value)) for key, value in members))
