"""Names that an Avro text uses and does not define: these are its references."""

from treaty.formats.avro.model import PRIMITIVES, full_name
from treaty.formats.format import ReferenceName
from treaty.formats.json_text import Json, read_json

_NAMED = frozenset({"record", "error", "enum", "fixed"})


def find_references(text: str) -> tuple[ReferenceName, ...]:
    """The full names that a text needs from elsewhere, each where it is used first.

    A use without a namespace counts as defined if the text defines that name in the namespace in force or in none.
    Raises `InvalidSchemaError` if the text is not JSON; anything else that is wrong with it is left to `parse`.
    """
    search = _Search()
    search.visit(read_json(text), "", "")
    return tuple(
        ReferenceName(full, path)
        for full, (bare, path) in search.used.items()
        if full not in search.defined and bare not in search.defined
    )


class _Search:
    """Walks one text: what it defines and what it uses, in order."""

    def __init__(self) -> None:
        self.defined: set[str] = set()
        self.used: dict[str, tuple[str, str]] = {}

    def visit(self, node: Json, space: str, path: str) -> None:
        """Look at a place where a type is expected."""
        if isinstance(node, str):
            if node not in PRIMITIVES:
                self.used.setdefault(full_name(node, space), (node, path))
        elif isinstance(node, list):
            for at, branch in enumerate(node):
                self.visit(branch, space, f"{path}/{at}")
        elif isinstance(node, dict):
            self._object(node, space, path)

    def _object(self, node: dict[str, Json], space: str, path: str) -> None:
        kind = node.get("type")
        if isinstance(kind, str) and kind in _NAMED:
            name, namespace = node.get("name"), node.get("namespace")
            if isinstance(name, str):
                full = full_name(name, namespace if isinstance(namespace, str) else space)
                self.defined.add(full)
                space = full.rpartition(".")[0]
            fields = node.get("fields")
            for at, field in enumerate(fields if isinstance(fields, list) else ()):
                if isinstance(field, dict):
                    self.visit(field.get("type"), space, f"{path}/fields/{at}/type")
        elif kind == "array":
            self.visit(node.get("items"), space, f"{path}/items")
        elif kind == "map":
            self.visit(node.get("values"), space, f"{path}/values")
        elif isinstance(kind, str):
            self.visit(kind, space, f"{path}/type")
