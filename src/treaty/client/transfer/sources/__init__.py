"""Registries of other kinds as sources of an import: Pravega's schema registry, and schema-repo with its folder of files."""
