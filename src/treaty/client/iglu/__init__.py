"""Iglu's schemas in Python: `Resolver` and `AsyncResolver` find them over many registries, and validate self-describing values."""

from treaty.client.iglu.answers import IgluSchema, ResolverOptions, SchemaFamily, SchemaList
from treaty.client.iglu.async_resolver import AsyncResolver
from treaty.client.iglu.configuration import ResolverConfig, load_resolver_config, read_resolver_config
from treaty.client.iglu.embedded import BUILT_IN, embedded_registry
from treaty.client.iglu.errors import (
    NOT_FOUND,
    IgluNotFoundError,
    IgluUnavailableError,
    LookupHistory,
    RegistryFailure,
    ResolutionError,
    ResolverConfigError,
    client_failure,
    repo_failure,
)
from treaty.client.iglu.http import HttpLimits
from treaty.client.iglu.lookups import FamilyMember
from treaty.client.iglu.registries import (
    EMBEDDED,
    MEMORY,
    REMOTE,
    IgluRegistry,
    ListKey,
    SchemaDocument,
    http_registry,
    memory_registry,
)
from treaty.client.iglu.resolver import Resolver
from treaty.client.iglu.subjects import treaty_registry
from treaty.client.iglu.validation import ValidationResult, read_client_error
from treaty.core.iglu_key import IgluKey, IgluKeyError, SchemaCriterion, SchemaVer
from treaty.formats.jsonschema.data.draft4 import DataViolation, SchemaIssue

__all__ = [
    "BUILT_IN",
    "EMBEDDED",
    "MEMORY",
    "NOT_FOUND",
    "REMOTE",
    "AsyncResolver",
    "DataViolation",
    "FamilyMember",
    "HttpLimits",
    "IgluKey",
    "IgluKeyError",
    "IgluNotFoundError",
    "IgluRegistry",
    "IgluSchema",
    "IgluUnavailableError",
    "ListKey",
    "LookupHistory",
    "RegistryFailure",
    "ResolutionError",
    "Resolver",
    "ResolverConfig",
    "ResolverConfigError",
    "ResolverOptions",
    "SchemaCriterion",
    "SchemaDocument",
    "SchemaFamily",
    "SchemaIssue",
    "SchemaList",
    "SchemaVer",
    "ValidationResult",
    "client_failure",
    "embedded_registry",
    "http_registry",
    "load_resolver_config",
    "memory_registry",
    "read_client_error",
    "read_resolver_config",
    "repo_failure",
    "treaty_registry",
]
