"""Options in normal form: sorted, custom ones under their full names and as one message where they are one."""

from collections.abc import Iterable

from treaty.formats.protobuf.model import Aggregate, Constant, Field, Option, Schema, Symbol, find
from treaty.formats.protobuf.printing.constants import gathered


class Customs:
    """What the options of one schema mean."""

    __slots__ = ("_known", "_schema")

    def __init__(self, schema: Schema) -> None:
        """Names are looked up among those that the schema offers to options, or sees."""
        self._schema = schema
        self._known: dict[tuple[str, str], Symbol | None] = {}

    def normal(self, options: Iterable[Option], scope: str) -> tuple[Option, ...]:
        """Options that stand inside `scope`, in normal form."""
        done: dict[str, list[Option]] = {}
        for option in sorted((self._whole(one, scope) for one in options), key=name):
            same = done.setdefault(name(option), [])
            if same and option.name[0].startswith("(") and not self._repeated(option.name[0]):
                same[0] = _merged(same[0], option)
            else:
                same.append(option)
        return tuple(Option(one.name, self._constant(one.value, scope)) for same in done.values() for one in same)

    def _whole(self, option: Option, scope: str) -> Option:
        """An option under its full name; one about a part of a message becomes a message with that part."""
        first = option.name[0]
        if not first.startswith("("):
            return option
        value = option.value
        for part in reversed(option.name[1:]):
            inner = f"[{self._full(part[1:-1], scope)}]" if part.startswith("(") else part
            value = Aggregate(((inner, value),))
        return Option((f"({self._full(first[1:-1], scope)})",), value)

    def _extension(self, written: str, scope: str) -> Symbol | None:
        key = (scope, written)
        if key not in self._known:
            found = find(self._schema.offered, scope, written) or find(self._schema.visible, scope, written)
            self._known[key] = found if found is not None and found.kind == "extension" else None
        return self._known[key]

    def _full(self, written: str, scope: str) -> str:
        found = self._extension(written, scope)
        return found.full if found is not None else written

    def _repeated(self, full: str) -> bool:
        found = self._extension(f".{full[1:-1]}", "")
        return found is None or not isinstance(found.node, Field) or found.node.label == "repeated"

    def _constant(self, value: Constant, scope: str) -> Constant:
        """A value in normal form: members sorted, none that is an empty list, no list of one, whole numbers whole."""
        if isinstance(value, float) and value.is_integer() and 0 < abs(value) < 2**53:
            return int(value)
        if isinstance(value, tuple):
            items = tuple(self._constant(one, scope) for one in value)
            return items[0] if len(items) == 1 else items
        if not isinstance(value, Aggregate):
            return value
        members: dict[str, Constant] = {}
        for key, one in gathered(value):
            if one != ():
                members[self._member(key, scope)] = self._constant(one, scope)
        return Aggregate(tuple(sorted(members.items(), key=lambda member: member[0])))

    def _member(self, key: str, scope: str) -> str:
        return f"[{self._full(key[1:-1], scope)}]" if key.startswith("[") and "/" not in key else key


def name(option: Option) -> str:
    """The name by which options are sorted: an extension's without parentheses."""
    first = option.name[0]
    return first[1:-1] if first.startswith("(") else ".".join(option.name)


def _merged(one: Option, other: Option) -> Option:
    if isinstance(one.value, Aggregate) and isinstance(other.value, Aggregate):
        return Option(one.name, _together(one.value, other.value))
    return other


def _together(one: Aggregate, other: Aggregate) -> Aggregate:
    """The members of both; messages that were written in parts become one."""
    members = list(one.members)
    last = {key: at for at, (key, _) in enumerate(members)}
    for key, value in other.members:
        at = last.get(key, -1)
        held = members[at][1] if at >= 0 else None
        if isinstance(held, Aggregate) and isinstance(value, Aggregate) and len(other.members) == 1:
            members[at] = (key, _together(held, value))
        else:
            members.append((key, value))
    return Aggregate(tuple(members))
