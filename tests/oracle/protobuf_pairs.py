"""Pairs of Protobuf schemas from a seed: a schema in proto2, proto3 or edition 2023, and what became of it."""

from copy import deepcopy
from typing import Any

from tests.oracle.protobuf_sources import Choice, Node, Part, Source
from treaty.formats.seeded_random import SeededRandom

GROUPS = (
    ("int32", "int64", "uint32", "uint64", "bool"),
    ("sint32", "sint64"),
    ("string", "bytes"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("float",),
    ("double",),
)
SCALARS = tuple(name for group in GROUPS for name in group)
KEYS = ("int32", "int64", "uint32", "sint64", "fixed32", "bool", "string")


class Maker:
    """Makes a schema and changes it."""

    def __init__(self, draw: SeededRandom) -> None:
        self.draw = draw
        self.count = 0

    def name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{prefix}{self.count}"

    def source(self) -> Source:
        """A schema."""
        draw = self.draw
        made = Source(draw.pick(("proto2", "proto3", "2023")))
        made.other = [self.node(None, home=False), self.choice(None, home=False), self.node(None, home=False)]
        made.kinds = [self.choice(None), *(self.node(None) for _ in range(2 + draw.below(2)))]
        for node in made.nodes():
            for _ in range(1 + draw.below(4)):
                self.add(made, node)
        if made.dialect == "proto2" and draw.chance(20):
            node = self.node(None)
            node.is_set, node.inner = True, []
            node.parts = [Part(self.name("f"), 1000, draw.pick(made.nodes()), "optional", extends=True)]
            made.kinds.append(node)
        return made

    def node(self, parent: Node | None, *, home: bool = True) -> Node:
        """A message without fields, perhaps with types inside."""
        made = Node(self.name("M"), parent, home)
        if self.draw.chance(30):
            made.reserved, made.names = [900], [self.name("r")]
        if parent is None and self.draw.chance(40):
            made.inner.append(self.node(made, home=home))
        if self.draw.chance(20):
            made.inner.append(self.choice(made, home=home))
        return made

    def choice(self, parent: Node | None, *, home: bool = True) -> Choice:
        """An enum."""
        name = self.name("E")
        return Choice(name, parent, home, {f"{name}_{number}": number for number in range(2 + self.draw.below(3))})

    def type(self, source: Source, node: Node) -> "str | Node | Choice":
        """A type that a field of this message may have."""
        if self.draw.chance(60):
            return self.draw.pick(SCALARS)
        kinds = [kind for kind in source.all() if node.home or not kind.home]
        kinds = [kind for kind in kinds if not (isinstance(kind, Node) and kind.is_set)]
        found = self.draw.pick(kinds)
        assert isinstance(found, Node | Choice)
        return found

    def number(self, node: Node, *, extends: bool = False) -> int:
        """A number that is free."""
        taken = {part.number for part in node.parts} | set(node.reserved)
        first = node.room if extends else 1
        return next(number for number in range(first, 2000) if number not in taken)

    def add(self, source: Source, node: Node) -> None:
        """Add a field."""
        draw = self.draw
        if node.is_set:
            return
        part = Part(self.name("f"), self.number(node), self.type(source, node))
        node.parts.append(part)
        if draw.chance(20):
            part.label = "repeated"
        elif draw.chance(12):
            part.label = "required" if not isinstance(part.type, Node) else "optional"
        elif draw.chance(15):
            part.label = "optional"
        elif draw.chance(12):
            part.key = draw.pick(KEYS)
        elif draw.chance(25):
            part.oneof = draw.pick([one.oneof for one in node.parts if one.oneof] or [self.name("o")])
        elif draw.chance(12) and source.dialect != "proto3":
            part.extends, part.number = True, self.number(node, extends=True)
        elif draw.chance(30) and isinstance(part.type, Node) and part.type is not node:
            part.group = True

    def changed(self, old: Source) -> Source:
        """Another version of a schema: one change, sometimes several."""
        new = deepcopy(old)
        for _ in range(1 if self.draw.chance(40) else 2 + self.draw.below(3)):
            self.change(new)
        return new

    def change(self, source: Source) -> None:
        """One change."""
        draw = self.draw
        node = draw.pick([node for node in source.nodes() if not node.is_set])
        change = draw.pick(CHANGES)
        if not node.parts:
            self.add(source, node)
        change(self, source, node, draw.pick(node.parts))


def _add(maker: Maker, source: Source, node: Node, part: Part) -> None:
    maker.add(source, node)


def _remove(maker: Maker, source: Source, node: Node, part: Part) -> None:
    node.parts.remove(part)
    if maker.draw.chance(50) and not part.extends:
        node.reserved.append(part.number)


def _reuse(maker: Maker, source: Source, node: Node, part: Part) -> None:
    """Use what was set aside."""
    if node.reserved:
        number = node.reserved.pop()
        if all(one.number != number for one in node.parts):
            node.parts.append(Part(maker.name("f"), number, "int32"))
    if node.names:
        part.name = node.names.pop()


def _rename(maker: Maker, source: Source, node: Node, part: Part) -> None:
    part.name = maker.name("f")


def _renumber(maker: Maker, source: Source, node: Node, part: Part) -> None:
    part.number = maker.number(node, extends=part.extends)


def _retype(maker: Maker, source: Source, node: Node, part: Part) -> None:
    part.type = maker.type(source, node)
    part.group = False


def _within(maker: Maker, source: Source, node: Node, part: Part) -> None:
    """Another type of the same group: the changes that are allowed."""
    if isinstance(part.type, str):
        part.type = maker.draw.pick(next(group for group in GROUPS if part.type in group))
    elif isinstance(part.type, Choice):
        part.type = maker.draw.pick(("int32", "int64", "bool", "uint32"))


def _relabel(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if not part.key and not part.oneof:
        labels = ("", "optional", "repeated") if part.extends else ("", "optional", "repeated", "required")
        part.label = maker.draw.pick([label for label in labels if label != part.label])
        if part.label == "required" and isinstance(part.type, Node):
            part.label = "repeated"


def _to_oneof(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if not part.key and not part.extends:
        known = [one.oneof for one in node.parts if one.oneof]
        part.oneof = maker.draw.pick([*known, maker.name("o")])
        part.label = ""


def _both_to_oneof(maker: Maker, source: Source, node: Node, part: Part) -> None:
    oneof = maker.name("o")
    for one in node.parts:
        if not one.key and not one.extends and maker.draw.chance(60):
            one.oneof, one.label = oneof, ""


def _from_oneof(maker: Maker, source: Source, node: Node, part: Part) -> None:
    for one in node.parts:
        if one.oneof and maker.draw.chance(60):
            one.oneof = ""
            one.label = maker.draw.pick(("", "optional", "required") if not isinstance(one.type, Node) else ("",))


def _rename_oneof(maker: Maker, source: Source, node: Node, part: Part) -> None:
    for one in [one for one in node.parts if one.oneof]:
        one.oneof = f"{one.oneof}x"


def _regroup(maker: Maker, source: Source, node: Node, part: Part) -> None:
    for one in node.parts:
        if isinstance(one.type, Node) and one.type is not node:
            one.group = not one.group


def _rekey(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if part.key:
        part.key = maker.draw.pick(KEYS)
    elif not part.oneof and not part.extends and not part.group:
        part.key, part.label = "string", ""


def _extension(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if source.dialect == "proto3" or part.key or part.oneof or part.label == "required" or part.group:
        node.room = 1001
        for one in node.parts:
            if one.number == 1000:
                one.number = maker.number(node, extends=True)
        return
    part.extends = not part.extends
    if part.extends and part.number < 1000:
        part.number = maker.number(node, extends=True)
    elif not part.extends and part.number >= 1000:
        part.number = maker.number(node)


def _to_field(maker: Maker, source: Source, node: Node, part: Part) -> None:
    """An extension becomes a field of the same number."""
    for one in [one for one in node.parts if one.extends]:
        one.extends = False
        node.room = max(node.room, one.number + 1)
        one.type = maker.draw.pick((one.type, "string"))
    node.parts = [one for one in node.parts if not one.extends]


def _new_type(maker: Maker, source: Source, node: Node, part: Part) -> None:
    made: Any = maker.choice(node, home=node.home) if maker.draw.chance(50) else maker.node(node, home=node.home)
    node.inner.append(made)


def _rename_type(maker: Maker, source: Source, node: Node, part: Part) -> None:
    kind = maker.draw.pick(list(source.all()))
    kind.name = maker.name("N" if isinstance(kind, Node) else "F")


def _remove_type(maker: Maker, source: Source, node: Node, part: Part) -> None:
    gone = maker.draw.pick([kind for kind in source.all() if not isinstance(kind, Node) or not kind.inner])
    for kinds in (source.kinds, source.other, *(one.inner for one in source.nodes())):
        if gone in kinds:
            kinds.remove(gone)
    for one in source.nodes():
        if one.is_set:
            one.parts = [part for part in one.parts if part.type is not gone]
        for field_ in one.parts:
            if field_.type is gone:
                field_.type = "int32" if isinstance(gone, Choice) else "bytes"
                field_.group = False


def _move_type(maker: Maker, source: Source, node: Node, part: Part) -> None:
    """Into another message, out of one, or to another place."""
    if node.parent is not None:
        node.parent.inner.remove(node)
        node.parent = None
        (source.kinds if node.home else source.other).append(node)
    else:
        kinds = source.kinds if node.home else source.other
        kinds.append(kinds.pop(0))


def _values(maker: Maker, source: Source, node: Node, part: Part) -> None:
    enums = [kind for kind in source.all() if isinstance(kind, Choice)]
    if not enums:
        return
    enum = maker.draw.pick(enums)
    last, number = list(enum.values.items())[-1]
    if maker.draw.chance(40):
        enum.values[maker.name(f"{enum.name}_")] = max((*enum.values.values(), *enum.reserved)) + 1
    elif maker.draw.chance(50) and len(enum.values) > 1:
        del enum.values[last]
        enum.reserved.append(number)
    else:
        del enum.values[last]
        enum.values[maker.name("V")] = number


def _package(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if maker.draw.chance(30):
        source.package = maker.draw.pick(("acme.v2", "", "other"))
    else:
        source.other_package = maker.draw.pick(("dep.v2", "", "dep"))


def _to_edition(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if source.dialect == "proto2" and any(one.group or one.oneof for each in source.nodes() for one in each.parts):
        return
    if not any(one.is_set for one in source.nodes()):
        source.dialect = maker.draw.pick(("2023", "proto2" if source.dialect != "proto3" else "2023"))


def _message_set(maker: Maker, source: Source, node: Node, part: Part) -> None:
    if source.dialect == "proto2":
        for one in source.nodes():
            if one.is_set:
                one.is_set = False


def _to_import(maker: Maker, source: Source, node: Node, part: Part) -> None:
    """Move a message of its own into the other file."""
    own = [
        one
        for one in source.kinds
        if isinstance(one, Node)
        and not one.inner
        and not one.is_set
        and all(isinstance(each.type, str) for each in one.parts)
    ]
    if own:
        moved = maker.draw.pick(own)
        source.kinds.remove(moved)
        source.other.append(moved)
        moved.home = False


CHANGES = (
    _add, _remove, _reuse, _rename, _renumber, _retype, _retype, _retype, _within, _within, _relabel, _relabel, _relabel,
    _to_oneof, _both_to_oneof, _from_oneof, _rename_oneof, _regroup, _rekey, _extension, _to_field, _new_type, _rename_type,
    _remove_type, _move_type, _values, _values, _package, _to_edition, _message_set, _to_import,
)  # fmt: skip


def pair(seed: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The texts of an old and of a new version, each with that of ``other.proto``."""
    maker = Maker(SeededRandom(seed))
    old = maker.source()
    return old.texts(), maker.changed(old).texts()
