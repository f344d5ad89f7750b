"""The metastore: sources, types and queries by SQL. The names here are loaded when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.metastore.execution.context import PlanningOptions as PlanningOptions
    from treaty.metastore.execution.planner import PlannedQuery as PlannedQuery
    from treaty.metastore.execution.planner import Planner as Planner
    from treaty.metastore.metastore import AsyncMetastore as AsyncMetastore
    from treaty.metastore.metastore import Metastore as Metastore

__all__ = ["AsyncMetastore", "Metastore", "PlannedQuery", "Planner", "PlanningOptions"]


if not TYPE_CHECKING:  # type checkers see the imports above, and no other name
    HOMES = {
        "PlannedQuery": "execution.planner",
        "Planner": "execution.planner",
        "PlanningOptions": "execution.context",
    }

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'treaty.metastore' has no attribute {name!r}")
        return getattr(import_module(f"treaty.metastore.{HOMES.get(name, 'metastore')}"), name)
