"""Snapshots of registries: read from a topic or a registry, and written to another one."""
