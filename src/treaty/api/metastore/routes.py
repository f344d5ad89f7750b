"""Routes of the metastore's API below `/metastore/v1`: which function answers which method and path."""

from treaty.api.dialects.description import ApiAnswer, ApiDescription, ApiOperation, ApiParameter, Table
from treaty.api.dialects.router import build_routes
from treaty.api.metastore import endpoints as x
from treaty.core.limits import SOURCES_PAGE
from treaty.wire import metastore as w
from treaty.wire.statements import MetastoreErrorBody, StatementResultsBody, StatementsBody

PREFIX = "/metastore/v1"
GROUPS = {
    "metastore": "Streams, tables and named types, described in SQL. They are rows of the same log as the schemas that they use. Errors have the "
    "body of `MetastoreErrorBody`."
}
_NAME = ApiParameter("name", "Name of a stream, table or type, in any case", example="flights")
_PAGE = (
    ApiParameter("after", "The member `next` of the page before", example=""),
    ApiParameter("limit", f"Entries in a page, at most {SOURCES_PAGE:,}", "integer", default=100),
)
_KIND = ApiParameter("kind", "Streams or tables alone", choices=("stream", "table"))
_COLUMN = {"name": "carrier", "type": "STRING"}
_SOURCE = {
    "name": "flights", "kind": "STREAM", "generation": 7, "revision": 1, "connector": "kafka", "place": "flights", "cluster": "main",
    "columns": [_COLUMN],
}  # fmt: skip
_RESULT = {
    "statement": "DROP STREAM flights",
    "kind": "DROP STREAM",
    "name": "flights",
    "message": "flights dropped",
    "sequence": 8,
}
_TYPE = {"name": "address", "definition": "STRUCT<street: STRING>", "generation": 3}

TABLE: Table = {
    f"{PREFIX}/statements": {
        "POST": ApiOperation(
            x.post_statements,
            "metastore",
            ApiAnswer("The results", StatementResultsBody, example={"results": [_RESULT]}),
            sent=StatementsBody,
            sent_example={"sql": "SHOW STREAMS"},
            errors=(409, 412, 417, 422),
            writes=True,
        )
    },
    f"{PREFIX}/sources": {
        "GET": ApiOperation(
            x.list_sources, "metastore", ApiAnswer("A page of sources", w.SourcesBody, example={"sources": [_SOURCE]}),
            query=(_KIND, *_PAGE),
        )
    },
    f"{PREFIX}/sources/{{}}": {
        "GET": ApiOperation(
            x.get_source, "metastore",
            ApiAnswer("The source", w.SourceBody, example=_SOURCE, headers={"etag": "Generation and revision of the source"}),
            (_NAME,),
        )
    },
    f"{PREFIX}/types": {
        "GET": ApiOperation(
            x.list_types, "metastore", ApiAnswer("A page of types", w.TypesBody, example={"types": [_TYPE]}), query=_PAGE
        )
    },
    f"{PREFIX}/types/{{}}": {
        "GET": ApiOperation(x.get_type, "metastore", ApiAnswer("The type", w.TypeBody, example=_TYPE), (_NAME,))
    },
    f"{PREFIX}/queries": {
        "GET": ApiOperation(
            x.list_queries, "metastore", ApiAnswer("A page of sources with a query", w.SourcesBody, example={"sources": []}),
            query=_PAGE,
        )
    },
    f"{PREFIX}/dependencies/{{}}": {
        "GET": ApiOperation(
            x.get_dependencies, "metastore",
            ApiAnswer("Dependents and upstreams", w.DependenciesBody, example={"dependents": []}), (_NAME,),
            query=(ApiParameter("recursive", "Dependents of dependents too", "boolean", default=False),),
        )
    },
}  # fmt: skip
"""Operations by path and method."""
ROUTES = build_routes(TABLE)
DESCRIPTION = ApiDescription(
    "metastore",
    GROUPS,
    TABLE,
    MetastoreErrorBody,
    {"code": "SOURCE_NOT_FOUND", "message": "There is no stream or table flights"},
    {
        400: "The body, a text or a definition is not valid; `diagnostics` has all errors of a text",
        404: "No such path, source or type",
        409: "The name is taken, or others need what would go; for CASCADE without its digest what would go along",
        412: "The source or its schema is not the expected one",
        417: "What ASSERT says does not hold",
        422: "A limit or a schema refuses it",
        503: "No planner, or the log can't be reached; nothing was written",
    },
)
