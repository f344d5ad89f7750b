"""The table of paths."""

from collections.abc import Awaitable, Callable

from treaty.api.errors import HttpError
from treaty.api.iglu import schemas, server, validation
from treaty.api.iglu.exchange import IgluAnswer, IgluExchange
from treaty.api.router import RouteMatch, build_routes, decode_path
from treaty.wire.iglu.errors import NO_ENDPOINT

IgluEndpoint = Callable[[IgluExchange], Awaitable[IgluAnswer]]

PATHS: dict[str, dict[str, IgluEndpoint]] = {
    "/api/schemas": {"GET": schemas.list_all, "POST": schemas.post_schema},
    "/api/schemas/{}": {"GET": schemas.list_vendor},
    "/api/schemas/{}/{}": {"GET": schemas.list_vendor},
    "/api/schemas/{}/{}/{}": {"GET": schemas.list_vendor},
    "/api/schemas/{}/{}/{}/{}": {"GET": schemas.get_schema, "PUT": schemas.put_schema, "DELETE": schemas.delete_schema},
    "/api/schemas/validate/{}/{}/{}/{}": {"POST": validation.validate_with_path},
    "/api/drafts/{}/{}/{}/{}": {"GET": schemas.get_draft, "PUT": schemas.put_draft},
    "/api/validation/validate/schema/{}": {"POST": validation.validate_schema},
    "/api/validation/validate/instance": {"POST": validation.validate_instance},
    "/api/auth/keygen": {"POST": server.generate_keys, "DELETE": server.delete_key},
    "/api/meta/health": {"GET": server.get_health},
    "/api/meta/health/db": {"GET": server.get_log_health},
    "/api/meta/server": {"GET": server.get_server},
}
"""Paths to endpoints by method; an open segment is ``{}``."""

ROUTES = build_routes(
    {path: {method: (path, endpoint) for method, endpoint in methods.items()} for path, methods in PATHS.items()}
)
"""The same, ready to be searched; each endpoint comes with its path, by which requests are counted."""


def find_route(raw_path: bytes) -> RouteMatch[tuple[str, IgluEndpoint]]:
    """Return what is at a path. Raises `HttpError` 404 where there is nothing, and 400 where it is not UTF-8."""
    try:
        found = ROUTES.find(decode_path(raw_path))
    except UnicodeDecodeError:
        raise HttpError(400, "the path is not UTF-8") from None
    if found is None:
        raise HttpError(404, NO_ENDPOINT)
    return found
