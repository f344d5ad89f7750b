"""Descriptions of the routes of schemas by id and guid."""

from treaty.api.confluent.openapi.parts import (
    DELETED,
    FORMAT,
    GUID,
    ID,
    IN_SUBJECT,
    ONLY_DELETED,
    PAGE,
    PREFIX,
    QUALIFIED,
    SHOWN,
    TAGS,
    ApiAnswer,
    ApiOperation,
    ApiParameter,
    Table,
    flag,
)
from treaty.api.confluent.openapi.subjects import TEXT, VERSION_MEMBERS
from treaty.wire.confluent.listings import PlaceBody, UseBody
from treaty.wire.confluent.versions import SchemaBody

_BY_ID = {name: value for name, value in SHOWN.items() if name != "id"}
_BY_GUID = {name: value for name, value in _BY_ID.items() if name not in {"subject", "version"}}

TABLE: Table = {
    "/schemas/ids/{}": {
        "GET": ApiOperation(
            "schemas",
            ApiAnswer(
                "The schema, with one subject and version that use it",
                SchemaBody,
                needed=("guid", "schemaType", "schema"),
                example=_BY_ID,
            ),
            (ID,),
            (IN_SUBJECT, flag("fetchMaxId", "Add the highest id of the context, as `maxId`"), TAGS, FORMAT, QUALIFIED),
            errors=(40403,),
        )
    },
    "/schemas/ids/{}/schema": {"GET": ApiOperation("schemas", TEXT, (ID,), (IN_SUBJECT, FORMAT), errors=(40403,))},
    "/schemas/ids/{}/subjects": {
        "GET": ApiOperation(
            "schemas",
            ApiAnswer("Names of subjects, sorted", list[str], example=["orders-value"]),
            (ID,),
            (IN_SUBJECT, DELETED, ONLY_DELETED, *PAGE),
            errors=(40403,),
        )
    },
    "/schemas/ids/{}/versions": {
        "GET": ApiOperation(
            "schemas",
            ApiAnswer(
                "Subjects and versions that use the schema",
                list[UseBody],
                example=[{"subject": "orders-value", "version": 1}],
            ),
            (ID,),
            (IN_SUBJECT, DELETED, ONLY_DELETED, *PAGE),
            errors=(40403,),
        )
    },
    "/schemas/guids/{}": {
        "GET": ApiOperation(
            "schemas",
            ApiAnswer("The schema", SchemaBody, needed=("guid", "schemaType", "schema"), example=_BY_GUID),
            (GUID,),
            (FORMAT,),
            errors=(40403,),
        )
    },
    "/schemas/guids/{}/ids": {
        "GET": ApiOperation(
            "schemas", ApiAnswer("Contexts and ids", list[PlaceBody], example=[{"context": ".", "id": 1}]), (GUID,)
        )
    },
    "/schemas/types": {
        "GET": ApiOperation("schemas", ApiAnswer("Names", list[str], example=["JSON", "PROTOBUF", "AVRO"]))
    },
    "/schemas": {
        "GET": ApiOperation(
            "schemas",
            ApiAnswer(
                "The versions: at most 1,000 at a time", list[SchemaBody], needed=VERSION_MEMBERS, example=[SHOWN]
            ),
            query=(
                PREFIX,
                DELETED,
                ONLY_DELETED,
                flag("latestOnly", "Only the latest version of each subject"),
                flag("aliases", "Add the aliases of each subject, as `aliases`"),
                ApiParameter("ruleType", "Only versions with a rule of this type", example="ENCRYPT"),
                ApiParameter(
                    "resourceType", "Only subjects with an association of this kind of resource", example="topic"
                ),
                ApiParameter(
                    "associationType",
                    "Only subjects with an association of this kind",
                    repeated=True,
                    choices=("key", "value"),
                ),
                ApiParameter(
                    "lifecycle",
                    "Only subjects with an association of this lifecycle; NONE: without one. Each of the last three parameters adds "
                    "the associations, as `associations`",
                    repeated=True,
                    choices=("STRONG", "WEAK", "NONE"),
                ),
                FORMAT,
                *PAGE,
                ApiParameter("after", "Begin after this subject; replaces `offset`", example="orders-key"),
                ApiParameter("afterVersion", "Begin after this version of `after`", "integer", default=0),
            ),
        )
    },
}
