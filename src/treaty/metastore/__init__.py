"""The metastore: sources, types and queries by SQL."""

from treaty.metastore.metastore import AsyncMetastore, Metastore

__all__ = ["AsyncMetastore", "Metastore"]
