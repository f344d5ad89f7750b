"""Protobuf files as values that can be changed, and their texts."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace


@dataclass(eq=False)
class Kind:
    """An enum or a message: `parent` is the message around it; `home` says whether it is in the file itself."""

    name: str
    parent: "Node | None" = None
    home: bool = True

    @property
    def path(self) -> str:
        """The name from the outermost message on."""
        return f"{self.parent.path}.{self.name}" if self.parent else self.name


@dataclass(eq=False)
class Choice(Kind):
    """An enum."""

    values: dict[str, int] = field(default_factory=dict)
    reserved: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Part:
    """A field; `oneof` is the name of the one it is in, `extends` marks an extension."""

    name: str
    number: int
    type: "str | Node | Choice"
    label: str = ""
    key: str = ""
    oneof: str = ""
    group: bool = False
    extends: bool = False
    features: str = ""


@dataclass(eq=False)
class Node(Kind):
    """A message."""

    parts: list[Part] = field(default_factory=list)
    inner: list[Kind] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    room: int = 1000
    is_set: bool = False


@dataclass(eq=False)
class Source:
    """A file, and another one that it imports."""

    dialect: str
    package: str = "acme"
    kinds: list[Kind] = field(default_factory=list)
    other: list[Kind] = field(default_factory=list)
    other_package: str = "dep"

    def nodes(self) -> list[Node]:
        """All messages, those of the other file last."""
        return [kind for kind in self.all() if isinstance(kind, Node)]

    def all(self) -> Iterator[Kind]:
        """All types."""
        waiting = [*reversed(self.other), *reversed(self.kinds)]
        while waiting:
            kind = waiting.pop()
            yield kind
            if isinstance(kind, Node):
                waiting += reversed(kind.inner)

    def texts(self) -> tuple[str, str]:
        """The text of the file, and that of ``other.proto``."""
        return _file(self, self.kinds, self.package, 'import "other.proto";\n'), _file(
            self, self.other, self.other_package, ""
        )


def _file(source: Source, kinds: list[Kind], package: str, imports: str) -> str:
    head = f'edition = "{source.dialect}";' if source.dialect[0] == "2" else f'syntax = "{source.dialect}";'
    said = f"package {package};\n" if package else ""
    parts = [kind for kind in kinds if isinstance(kind, Node)]
    extends = "".join(_extend(source, node) for node in parts)
    return f"{head}\n{said}{imports}" + "".join(_kind(source, kind) for kind in kinds) + extends


def _extend(source: Source, node: Node) -> str:
    parts = [part for part in node.parts if part.extends]
    if not parts:
        return ""
    return f"extend {_type(source, node)} {{ {''.join(_part(source, part) for part in parts)} }}\n"


def _type(source: Source, kind: "str | Kind") -> str:
    if isinstance(kind, str):
        return kind
    package = source.package if kind.home else source.other_package
    return f".{package}.{kind.path}" if package else f".{kind.path}"


def _kind(source: Source, kind: Kind) -> str:
    if isinstance(kind, Choice):
        aside = f"reserved {', '.join(map(str, kind.reserved))}; " if kind.reserved else ""
        values = " ".join(f"{name} = {number};" for name, number in kind.values.items())
        return f"enum {kind.name} {{ {aside}{values} }}\n"
    assert isinstance(kind, Node)
    if kind.is_set:
        return f"message {kind.name} {{ option message_set_wire_format = true; extensions 4 to max; }}\n"
    lines = [_part(source, part) for part in kind.parts if not part.oneof and not part.extends]
    for oneof in dict.fromkeys(part.oneof for part in kind.parts if part.oneof):
        inner = "".join(_part(source, part) for part in kind.parts if part.oneof == oneof)
        lines.append(f"  oneof {oneof} {{ {inner} }}\n")
    if kind.reserved:
        lines.append(f"  reserved {', '.join(map(str, kind.reserved))};\n")
    if kind.names:
        quote = "" if source.dialect[0] == "2" else '"'
        lines.append(f"  reserved {', '.join(f'{quote}{name}{quote}' for name in kind.names)};\n")
    if source.dialect != "proto3":
        lines.append(f"  extensions {kind.room} to 2000;\n")
    lines += [_kind(source, inner) for inner in kind.inner]
    return f"message {kind.name} {{\n{''.join(lines)}}}\n"


def _part(source: Source, part: Part) -> str:
    if part.key:
        return f"  map<{part.key}, {_type(source, part.type)}> {part.name} = {part.number};\n"
    label = f"{part.label} " if part.label else ""
    features = ""
    if source.dialect == "proto2":
        label = "" if part.oneof else label or "optional "
        if part.group and isinstance(part.type, Node):
            name = f"G{part.name}"
            inside = [replace(one, oneof="") for one in part.type.parts if not one.group and isinstance(one.type, str)]
            body = "".join(_part(source, one) for one in inside)
            return f"  {label}group {name} = {part.number} {{ {body} }}\n"
    elif source.dialect == "proto3":
        label = "" if label == "required " or part.oneof else label
    else:
        wanted = ["features.field_presence = LEGACY_REQUIRED"] if part.label == "required" else []
        wanted += ["features.message_encoding = DELIMITED"] if part.group and isinstance(part.type, Node) else []
        wanted += [part.features] if part.features and part.type in ("string", "bytes") else []
        features = f" [{', '.join(wanted)}]" if wanted else ""
        label = label if label == "repeated " else ""
    return f"  {label}{_type(source, part.type)} {part.name} = {part.number}{features};\n"
