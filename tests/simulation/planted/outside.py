"""Planted: compatibility is checked once, before the loop; after a lost race only numbers are given anew."""

from typing import Any

from treaty.core.law import register
from treaty.node.schema_service import SchemaSession

LAWS = {"5"}
PLACE, NAME = register, "_refuse_incompatible"
original = register._refuse_incompatible
checked: list[SchemaSession] = []


def planted(view: Any, case: Any, new: Any, grammar: Any) -> None:
    if any(one is grammar for one in checked):
        return
    original(view, case, new, grammar)
    checked.append(grammar)
    del checked[:-200]
