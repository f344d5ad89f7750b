"""The table of paths."""

from collections.abc import Awaitable, Callable

from treaty.api.confluent import associations, schemas, server, settings, subjects
from treaty.api.confluent.request_context import RequestContext
from treaty.api.router import build_routes

Endpoint = Callable[[RequestContext], Awaitable[object]]

PATHS: dict[str, dict[str, Endpoint]] = {
    "/schemas/ids/{}": {"GET": schemas.get_schema},
    "/schemas/ids/{}/schema": {"GET": schemas.get_schema_text},
    "/schemas/ids/{}/subjects": {"GET": schemas.subjects_of},
    "/schemas/ids/{}/versions": {"GET": schemas.versions_of},
    "/schemas/guids/{}": {"GET": schemas.get_guid},
    "/schemas/guids/{}/ids": {"GET": schemas.get_guid_ids},
    "/schemas/types": {"GET": schemas.list_types},
    "/schemas": {"GET": schemas.list_schemas},
    "/subjects": {"GET": subjects.list_subjects},
    "/subjects/{}": {"POST": subjects.lookup, "DELETE": subjects.delete_subject},
    "/subjects/{}/versions": {"GET": subjects.list_versions, "POST": subjects.register},
    "/subjects/{}/metadata": {"GET": subjects.find},
    "/subjects/{}/versions/{}": {"GET": subjects.get_version, "DELETE": subjects.delete_version},
    "/subjects/{}/versions/{}/tags": {"POST": subjects.derive},
    "/subjects/{}/versions/{}/schema": {"GET": subjects.get_text},
    "/subjects/{}/versions/{}/referencedby": {"GET": subjects.referenced_by},
    "/compatibility/subjects/{}/versions": {"POST": subjects.check},
    "/compatibility/subjects/{}/versions/{}": {"POST": subjects.check},
    "/config": {"GET": settings.get_config, "PUT": settings.put_config, "DELETE": settings.delete_config},
    "/config/{}": {"GET": settings.get_config, "PUT": settings.put_config, "DELETE": settings.delete_config},
    "/mode": {"GET": settings.get_mode, "PUT": settings.put_mode, "DELETE": settings.delete_mode},
    "/mode/{}": {"GET": settings.get_mode, "PUT": settings.put_mode, "DELETE": settings.delete_mode},
    "/contexts": {"GET": server.list_contexts},
    "/contexts/{}": {"DELETE": server.delete_context},
    "/associations/subjects/{}": {"GET": associations.of_subject},
    "/associations/resources/{}": {
        "GET": associations.of_id,
        "PUT": associations.update,
        "DELETE": associations.delete,
    },
    "/associations/resources/{}/{}": {"GET": associations.of_name},
    "/associations": {"POST": associations.create},
    "/associations:batchMutate": {"POST": associations.batch_change},
    "/associations:batchGet": {"POST": associations.batch_get},
    "/": {"GET": server.root, "POST": server.root},
    "/v1/metadata/id": {"GET": server.cluster},
    "/v1/metadata/version": {"GET": server.version},
    "/v1/metadata/deployment": {"GET": server.deployment},
    "/treaty/contexts/{}": {"PUT": server.make_context},
    "/treaty/settings": {"GET": settings.list_settings},
    "/treaty/outcome/{}": {"GET": server.outcome},
}
"""Paths to endpoints by method; an open segment is ``{}``, and a subject is always the first one."""

ROUTES = build_routes(
    {path: {method: (path, endpoint) for method, endpoint in methods.items()} for path, methods in PATHS.items()}
)
"""The same, ready to be searched; each endpoint comes with its path, by which requests are counted."""
