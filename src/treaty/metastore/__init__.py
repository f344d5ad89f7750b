"""The metastore: sources, types and queries by SQL."""
