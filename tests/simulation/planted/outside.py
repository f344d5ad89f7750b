"""Planted: compatibility is checked once, before the loop; after a lost race only numbers are given anew."""

from typing import Any

from treaty.core.handlers.registration import register
from treaty.node.schema_service import SchemaSession

LAWS = {"5"}
PLACE, NAME = register, "_refuse_incompatible"
original = register._refuse_incompatible
checked: list[SchemaSession] = []


def planted(view: Any, case: Any, new: Any, engine: Any) -> None:
    if any(one is engine for one in checked):
        return
    original(view, case, new, engine)
    checked.append(engine)
    del checked[:-200]
