"""Handlers of versions with a SchemaVer label: publication, order, patches, superseding, drafts."""
