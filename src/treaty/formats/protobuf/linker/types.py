"""What the name of a type means in a Protobuf file: of fields, of methods and of what is extended; and the fault where it means nothing
(`TypeResolver.add_undefined`), is no type, or is not visible.
"""

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.features import DEFAULTS, get_features, inherit_features
from treaty.formats.protobuf.model import Enum, Field, Message, ProtoSchema, ProtoSymbol, SourceLocation, find_symbol
from treaty.formats.protobuf.syntax.messages import SCALARS


class TypeResolver:
    """Looks up the types of one file."""

    def __init__(self, schema: ProtoSchema, faults: DiagnosticList) -> None:
        """For this schema; faults go to `faults`."""
        self.schema = schema
        self.faults = faults

    def resolve_field(self, field: Field, full: str) -> ProtoSymbol | None:
        """The type of a field or of a map's values; None for scalars, and with a fault."""
        if field.type in SCALARS:
            return None
        if field.group is not None:
            return self.schema.symbols.get(f"{full.rpartition('.')[0]}.{field.type}".lstrip("."))
        symbol = find_symbol(self.schema.visible, full.rpartition(".")[0], field.type, types=True)
        if symbol is None:
            self.add_undefined(field.type, full, field.place)
        elif symbol.kind not in ("message", "enum"):
            self.faults.add("NOT_A_TYPE", full, f"{field.type!r} is a {symbol.kind}", field.place)
        else:
            self.check_visible(symbol, full, field.place)
            return symbol
        return None

    def resolve_message(self, written: str, scope: str, full: str, place: SourceLocation) -> ProtoSymbol | None:
        """The message that a method takes or returns, or that is extended."""
        symbol = find_symbol(self.schema.visible, scope, written)
        if symbol is None:
            self.add_undefined(written, full, place)
        elif symbol.kind != "message":
            self.faults.add("NOT_A_MESSAGE", full, f"{written!r} is a {symbol.kind}", place)
        else:
            self.check_visible(symbol, full, place)
            return symbol
        return None

    def add_undefined(self, written: str, full: str, place: SourceLocation) -> None:
        """Add a fault for a name that means nothing here, with the reason where it is known.

        `written` is the name as the file has it, `full` the full name of the field or method that uses it.
        """
        scope = full.rpartition(".")[0]
        path = "" if written.startswith(".") else self._find_defining_file(written, scope)
        if path:
            self.faults.add("NAME_NOT_IMPORTED", full, f"{written!r} is defined in {path!r}", place)
            return
        first, _, rest = written.partition(".")
        nearer = find_symbol(self.schema.visible, scope, first) if first and rest else None
        if nearer is not None:
            message = f"{written!r} begins with {nearer.full!r}, which has no such name; a leading point leads past it"
        else:
            message = f"{written!r} is not defined"
        self.faults.add("NAME_UNDEFINED", full, message, place)

    def _find_defining_file(self, written: str, scope: str) -> str:
        """Return the path of the first file that defines a name in a scope or in one around it, imported or not; empty without one."""
        scopes = [scope]
        while scopes[-1]:
            scopes.append(scopes[-1].rpartition(".")[0])
        names = [f"{scope_name}.{written}".lstrip(".") for scope_name in scopes]
        files = ((path, other.symbols) for path, other in self.schema.files.items() if path)
        return next((path for path, symbols in files if any(name in symbols for name in names)), "")

    def check_visible(self, symbol: ProtoSymbol, full: str, place: SourceLocation) -> None:
        """A fault for a type that its own file keeps to itself (edition 2024)."""
        if symbol.path == self.schema.path:
            return
        home = self.schema.files.get(symbol.path)
        if home is None or home.file.edition < "2024" or not isinstance(symbol.node, Message | Enum):
            return
        if not is_exported(home, symbol):
            message = f"{symbol.full!r} is local to {symbol.path!r}"
            self.faults.add("NAME_NOT_VISIBLE", full, message, place)


def is_exported(home: ProtoSchema, symbol: ProtoSymbol) -> bool:
    """Whether other files may use a type of a file of edition 2024 or later."""
    node = symbol.node
    if isinstance(node, Message | Enum) and node.visibility:
        return node.visibility == "export"
    visibility = inherit_features(DEFAULTS[home.file.dialect], home.file.options)["default_symbol_visibility"]
    nested = symbol.scope != home.file.package
    return visibility == "EXPORT_ALL" or (visibility == "EXPORT_TOP_LEVEL" and not nested)


def is_delimited(schema: ProtoSchema, full: str, field: Field) -> bool:
    """Whether a message field of an edition is encoded as groups are."""
    return (
        inherit_features(get_features(schema, full.rpartition(".")[0]), field.options)["message_encoding"]
        == "DELIMITED"
    )
