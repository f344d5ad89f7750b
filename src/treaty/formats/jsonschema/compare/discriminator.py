"""Branches of a large choice, distinguished by properties that each of them allows constants for."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.exact import freeze
from treaty.formats.jsonschema.compare.view import SchemaView

LARGE = 16
"""From so many branches on they are looked up in a table; fewer are tried one after the other."""

Constants = Mapping[str, frozenset[Hashable]]
"""By the name of a property, the only values that it may have."""


def list_constants(view: SchemaView) -> Constants:
    """The properties of a schema that allow a few values only, by a `const` or an `enum` that stands there."""
    if view.constants is None:
        constants: dict[str, frozenset[Hashable]] = {}
        held = view.words.get("properties")
        spend(2 + (len(held) if isinstance(held, dict) else 0))
        for name, written in held.items() if isinstance(held, dict) else ():
            if isinstance(written, dict) and ("const" in written or "enum" in written):
                words = view.get_schema("properties", name).words
                values = [words["const"]] if "const" in words else words.get("enum")
                # Defaults may be put into objects, which are other values then.
                if isinstance(values, list) and not any(isinstance(one, dict | list) for one in values):
                    constants[name] = frozenset(map(freeze, values))
        view.constants = constants
    return view.constants


class BranchTable:
    """The branches of a choice by the constants of their properties, and by what is written in them."""

    __slots__ = ("_by_name", "_by_text", "branches")

    def __init__(self, branches: Sequence[SchemaView], *, usable: Iterable[bool] | None = None) -> None:
        """`usable` says of each branch whether its constants count."""
        self.branches = branches
        counted = [True] * len(branches) if usable is None else list(usable)
        constants = [list_constants(one) if good else {} for one, good in zip(branches, counted, strict=True)]
        common: dict[str, int] = {}
        for by_property in constants:
            for name in by_property:
                common[name] = common.get(name, 0) + 1
        self._by_name: dict[str, tuple[dict[Hashable, list[int]], list[int]]] = {}
        for name in (name for name, count in common.items() if 2 * count > len(branches)):
            spend(2 * len(branches))
            by_value: dict[Hashable, list[int]] = {}
            unrestricted: list[int] = []
            for at, by_property in enumerate(constants):
                for value in by_property.get(name, ()):
                    by_value.setdefault(value, []).append(at)
                if name not in by_property:
                    unrestricted.append(at)
            self._by_name[name] = (by_value, unrestricted)
        self._by_text: dict[Hashable, int] = {}

    def find_near(self, constants: Constants, names: Iterable[str]) -> list[int] | None:
        """The branches that a value may fit whose properties `names` are there and have one of these constants.

        None says that no table distinguishes them.
        """
        best: list[int] | None = None
        for name in self._by_name:
            if name in names and name in constants:
                by_value, unrestricted = self._by_name[name]
                near = {at for value in constants[name] for at in by_value.get(value, ())}
                spend(2 + len(constants[name]) + len(near) + (len(unrestricted) >> 2))
                if best is None or len(near) + len(unrestricted) < len(best):
                    best = sorted(near.union(unrestricted))
        return best

    def find_equal(self, view: SchemaView) -> int | None:
        """The branch that is written as a schema is."""
        if not self._by_text:
            for at, branch in enumerate(self.branches):
                self._by_text.setdefault(branch.written_form, at)
        return self._by_text.get(view.written_form)
