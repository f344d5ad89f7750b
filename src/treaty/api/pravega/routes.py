"""The table of paths, and names of paths in a namespace."""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from treaty.api.pravega import encodings, groups, schemas
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange
from treaty.api.router import build_routes

Endpoint = Callable[[PravegaExchange], Awaitable[PravegaAnswer]]

PATHS: dict[str, dict[str, Endpoint]] = {
    "/v1/groups": {"GET": groups.list_groups, "POST": groups.create_group},
    "/v1/groups/{}": {"GET": groups.get_group, "DELETE": groups.delete_group},
    "/v1/groups/{}/history": {"GET": groups.get_history},
    "/v1/groups/{}/compatibility": {"PUT": groups.update_compatibility},
    "/v1/groups/{}/schemas": {"GET": schemas.list_newest, "POST": schemas.add_schema},
    "/v1/groups/{}/schemas/versions": {"GET": schemas.list_versions},
    "/v1/groups/{}/schemas/versions/find": {"POST": schemas.find_version},
    "/v1/groups/{}/schemas/versions/validate": {"POST": schemas.validate},
    "/v1/groups/{}/schemas/versions/canRead": {"POST": schemas.can_read},
    "/v1/groups/{}/schemas/schema/{}": {"GET": schemas.get_schema, "DELETE": schemas.delete_schema},
    "/v1/groups/{}/schemas/format/{}/type/{}/versions/{}": {
        "GET": schemas.get_version,
        "DELETE": schemas.delete_version,
    },
    "/v1/groups/{}/encodings": {"PUT": encodings.get_encoding_id},
    "/v1/groups/{}/encodings/{}": {"GET": encodings.get_encoding},
    "/v1/groups/{}/codecTypes": {"GET": encodings.list_codecs, "POST": encodings.add_codec},
    "/v1/schemas/addedTo": {"POST": schemas.added_to},
}
"""Paths to endpoints by method; an open segment is ``{}``, and a group is always the first one."""

ROUTES = build_routes(
    {path: {method: (path, endpoint) for method, endpoint in methods.items()} for path, methods in PATHS.items()}
)
"""The same, ready to be searched; each endpoint comes with its path, by which requests are counted."""
NAMESPACE = ("v1", "namespace")
"""How a path in a namespace begins; the name follows."""


def in_namespace(segments: tuple[str, ...], query_string: bytes) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the path without its namespace, and the query with it.

    The namespace of a path wins over that of the query. Of several members with one name the first one counts.
    """
    members = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)
    query = dict(reversed(members))
    if segments[:2] == NAMESPACE and len(segments) > 3:
        query["namespace"] = segments[2]
        return ("v1", *segments[3:]), query
    return segments, query
