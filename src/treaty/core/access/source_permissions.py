"""Permissions on sources and types of the metastore, and the needs that several requests about them share."""

from collections.abc import Callable
from typing import Any

from treaty.core.access.permissions import ANY_SOURCE, PATH, SOURCE, Required, RequiredPermission
from treaty.core.access.rights import Permission
from treaty.core.messages.metastore import sources as m
from treaty.core.state.metastore.keys import canonical_path, key_of_name


def on_source(permission: Permission, name: str, path: str = "") -> RequiredPermission[str]:
    """Return the need of this permission on a source, by its name."""
    return RequiredPermission((permission,), SOURCE, key_of_name(name), path)


def on_path(permission: Permission, place: str, path: str = "") -> RequiredPermission[str]:
    """Return the need of this permission on the folder of a source, in any spelling."""
    return RequiredPermission((permission,), PATH, canonical_path(place), path)


def of_source(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on the request's source or type."""
    return lambda request: (on_source(permission, request.name, "/name"),)


def importable(required: Callable[[Any], Required]) -> Callable[[Any], Required]:
    """Require what `required` says, and importing where an import sends the request."""

    def of_request(request: Any) -> Required:
        needs = required(request)
        if not request.importer:
            return needs
        name = request.definition.name if isinstance(request, m.CreateSource) else request.name
        return (*needs, on_source("import", name, "/importer"))

    return of_request


def any_source(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on some source."""
    required = (RequiredPermission((permission,), ANY_SOURCE, None),)
    return lambda _request: required


def of_list_dependents(request: m.ListDependents) -> Required:
    """Require reading the source; types are for everybody who reads a source."""
    return any_source("read")(request) if request.kind == "TYPE" else of_source("read")(request)
