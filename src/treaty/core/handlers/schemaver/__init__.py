"""Handlers of versions with a SchemaVer label: publication, order, patches, superseding, drafts."""

from treaty.core.iglu_key import SchemaVer as SchemaVer
