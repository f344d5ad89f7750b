"""Pravega's schema registry (PDP-1) as routes: `/v1/groups`, `/v1/schemas`, and the same below `/v1/namespace/{namespace}`."""
