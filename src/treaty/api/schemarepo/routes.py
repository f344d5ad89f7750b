"""The tables of paths."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from treaty.api.router import build_routes
from treaty.api.schemarepo import proposal, subjects
from treaty.api.schemarepo.request_context import FORM, SchemaRepoContext
from treaty.wire.schemarepo.texts import JSON, TEXT

SchemaRepoEndpoint = Callable[[SchemaRepoContext], Awaitable[str | bytes]]


@dataclass(frozen=True, slots=True)
class TextRoute:
    """An endpoint, the media types that it offers (the first one is the default), and the one of the body that it reads."""

    endpoint: SchemaRepoEndpoint
    offered: tuple[str, ...] = (TEXT,)
    sent: str = ""


_REPOSITORY: dict[str, dict[str, TextRoute]] = {
    "/schema-repo": {"GET": TextRoute(subjects.list_subjects, (TEXT, JSON))},
    "/schema-repo/{}": {"GET": TextRoute(subjects.show_subject), "PUT": TextRoute(subjects.create_subject, sent=FORM)},
    "/schema-repo/{}/config": {"GET": TextRoute(subjects.get_config)},
    "/schema-repo/{}/integral": {"GET": TextRoute(subjects.is_integral)},
    "/schema-repo/{}/all": {"GET": TextRoute(subjects.list_schemas, (TEXT, JSON))},
    "/schema-repo/{}/latest": {"GET": TextRoute(subjects.get_latest)},
    "/schema-repo/{}/id/{}": {"GET": TextRoute(subjects.get_schema)},
    "/schema-repo/{}/schema": {"POST": TextRoute(subjects.find_schema, sent=TEXT)},
    "/schema-repo/{}/register": {"PUT": TextRoute(subjects.register, sent=TEXT)},
    "/schema-repo/{}/register_if_latest": {"PUT": TextRoute(subjects.register_if_latest, sent=TEXT)},
    "/schema-repo/{}/register_if_latest/{}": {"PUT": TextRoute(subjects.register_if_latest, sent=TEXT)},
}
_PROPOSAL: dict[str, dict[str, TextRoute]] = {
    "/avro-1124/schemas": {"GET": TextRoute(proposal.list_groups)},
    "/avro-1124/schemas/groups/{}": {"POST": TextRoute(proposal.register, sent=FORM)},
    "/avro-1124/schemas/{}": {"GET": TextRoute(proposal.list_ids), "POST": TextRoute(proposal.register, sent=FORM)},
    "/avro-1124/schemas/{}/latest": {"GET": TextRoute(proposal.get_latest)},
    "/avro-1124/schemas/{}/{}": {"GET": TextRoute(proposal.get_schema)},
}
SERVER: dict[str, dict[str, TextRoute]] = {"/config": {"GET": TextRoute(subjects.get_server_config)}}
"""Paths of the server itself, which are this dialect's only for reads of text."""
PATHS = {**_REPOSITORY, **_PROPOSAL}
"""Paths to endpoints by method; an open segment is ``{}``."""

ROUTES = build_routes(
    {
        path: {method: (path, route) for method, route in methods.items()}
        for path, methods in {**PATHS, **SERVER}.items()
    }
)
"""The same, ready to be searched; each endpoint comes with its path, by which requests are counted."""
