"""The routes of Confluent's dialect; each group of routes stands below its endpoints."""

from treaty.api.confluent import associations, schemas, server, settings, subjects
from treaty.api.dialects.description import Table
from treaty.api.dialects.router import build_routes

TABLE: Table = {**subjects.ROUTES, **schemas.ROUTES, **settings.ROUTES, **server.ROUTES, **associations.ROUTES}
"""Operations by path and method; an open segment is ``{}``, and a subject is always the first one."""
ROUTES = build_routes(TABLE)
"""The same, ready to be searched."""
