"""The routes of Pravega's registry: which function answers which method and path, and names of paths in a namespace."""

from typing import Any

from treaty.api.dialects.description import ApiAnswer, ApiDescription, ApiOperation, ApiParameter, Table
from treaty.api.dialects.router import build_routes, first_members
from treaty.api.pravega import encodings, groups, schemas
from treaty.core.limits import GROUPS_PAGE
from treaty.wire.pravega import bodies

GROUPS = {
    "groups": "Groups of Pravega's registry (PDP-1): a group is a subject with a policy, types and codecs. Every path of these three sections "
    "is also served below `/v1/namespace/{namespace}` instead of `/v1`, where a namespace is a context; errors have the body of "
    "`PravegaError`.",
    "group schemas": "Schemas of a group, by id, by type, and checked.",
    "encodings": "Codecs of a group, and the ids that payloads carry.",
}
_GROUP = ApiParameter("group", "Name of a group", example="orders")
_NAMESPACE = ApiParameter("namespace", "The namespace of the group; empty for the default one", example="")
_TYPE = ApiParameter("type", "Type of the schemas; all types if it is absent", example="shop.Order")
_ID = ApiParameter("id", "Id of a schema in its group, from 0", "integer", example=0)
_FORMAT = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
_INFO = {"type": "Order", "serializationFormat": _FORMAT, "schemaData": "", "properties": {}}
_VERSION = {"id": 0, "type": "Order", "serializationFormat": "Avro", "version": 0}
_PROPERTIES = {
    "serializationFormat": _FORMAT,
    "compatibility": {"policy": "Backward"},
    "allowMultipleTypes": True,
    "properties": {},
}
_POSTED: dict[str, Any] = {"sent": bodies.SchemaInfoBody, "sent_example": _INFO}
_NOTHING = ApiAnswer("Done")


def _creation(says: str) -> ApiAnswer:
    return ApiAnswer(says, status=201)


def _version(says: str, status: int = 200) -> ApiAnswer:
    return ApiAnswer(says, bodies.VersionInfoBody, status, example=_VERSION, media=_MEDIA)


_MEDIA = "application/json"
_GONE = ApiAnswer("Deleted", status=204)
_SCHEMA = ApiAnswer("The schema", bodies.SchemaInfoBody, example=_INFO, media=_MEDIA)
_VERSIONS = ApiAnswer("The schemas", bodies.SchemaVersionsBody, example={"schemas": []}, media=_MEDIA)
_TYPED = (
    _GROUP,
    ApiParameter("format", "Avro, Protobuf, Json, or the full type name of a custom format", example="Avro"),
    ApiParameter("type", "Type of the schema", example="shop.Order"),
    ApiParameter("version", "Version of this format and type, from 0", "integer", example=0),
)

_OF_GROUPS: Table = {
    "/v1/groups": {
        "GET": ApiOperation(
            groups.list_groups,
            "groups",
            ApiAnswer(
                "A page of groups",
                bodies.GroupsPageBody,
                example={"groups": {"orders": _PROPERTIES}, "continuationToken": "0"},
                media=_MEDIA,
            ),
            query=(
                _NAMESPACE,
                ApiParameter("continuationToken", "The token of the page before", example="cTOZS3d8VAln"),
                ApiParameter("limit", f"Groups in a page, at most {GROUPS_PAGE:,}", "integer", default=100),
            ),
        ),
        "POST": ApiOperation(
            groups.create_group,
            "groups",
            _creation("The group is created"),
            query=(_NAMESPACE,),
            sent=bodies.CreateGroupBody,
            sent_example={"groupName": "orders", "groupProperties": _PROPERTIES},
            errors=(409,),
            writes=True,
        ),
    },
    "/v1/groups/{}": {
        "GET": ApiOperation(
            groups.get_group,
            "groups",
            ApiAnswer("The properties", bodies.GroupPropertiesBody, example=_PROPERTIES, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        ),
        "DELETE": ApiOperation(
            groups.delete_group, "groups", _GONE, (_GROUP,), (_NAMESPACE,), errors=(409,), writes=True
        ),
    },
    "/v1/groups/{}/history": {
        "GET": ApiOperation(
            groups.get_history,
            "groups",
            ApiAnswer("The history", bodies.GroupHistoryBody, example={"history": []}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        )
    },
    "/v1/groups/{}/compatibility": {
        "PUT": ApiOperation(
            groups.update_compatibility,
            "groups",
            _NOTHING,
            (_GROUP,),
            (_NAMESPACE,),
            sent=bodies.UpdatePolicyBody,
            sent_example={"compatibility": {"policy": "Full"}, "previousCompatibility": {"policy": "Backward"}},
            errors=(409,),
            writes=True,
        )
    },
}
_OF_SCHEMAS: Table = {
    "/v1/groups/{}/schemas": {
        "GET": ApiOperation(schemas.list_newest, "group schemas", _VERSIONS, (_GROUP,), (_NAMESPACE, _TYPE)),
        "POST": ApiOperation(
            schemas.add_schema,
            "group schemas",
            _version("The version", 201),
            (_GROUP,),
            (_NAMESPACE,),
            errors=(409, 417),
            writes=True,
            **_POSTED,
        ),
    },
    "/v1/groups/{}/schemas/versions": {
        "GET": ApiOperation(schemas.list_versions, "group schemas", _VERSIONS, (_GROUP,), (_NAMESPACE, _TYPE))
    },
    "/v1/groups/{}/schemas/versions/find": {
        "POST": ApiOperation(
            schemas.find_version, "group schemas", _version("The version"), (_GROUP,), (_NAMESPACE,), **_POSTED
        )
    },
    "/v1/groups/{}/schemas/versions/validate": {
        "POST": ApiOperation(
            schemas.validate,
            "group schemas",
            ApiAnswer("Whether it would be added", bodies.ValidBody, example={"valid": True}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
            sent=bodies.ValidateBody,
            sent_example={"schemaInfo": _INFO},
        )
    },
    "/v1/groups/{}/schemas/versions/canRead": {
        "POST": ApiOperation(
            schemas.can_read,
            "group schemas",
            ApiAnswer("Whether it can read", bodies.CanReadBody, example={"compatible": True}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
            **_POSTED,
        )
    },
    "/v1/groups/{}/schemas/schema/{}": {
        "GET": ApiOperation(schemas.get_schema, "group schemas", _SCHEMA, (_GROUP, _ID), (_NAMESPACE,)),
        "DELETE": ApiOperation(
            schemas.delete_schema, "group schemas", _GONE, (_GROUP, _ID), (_NAMESPACE,), errors=(409,), writes=True
        ),
    },
    "/v1/groups/{}/schemas/format/{}/type/{}/versions/{}": {
        "GET": ApiOperation(schemas.get_version, "group schemas", _SCHEMA, _TYPED, (_NAMESPACE,)),
        "DELETE": ApiOperation(
            schemas.delete_version, "group schemas", _GONE, _TYPED, (_NAMESPACE,), errors=(409,), writes=True
        ),
    },
    "/v1/schemas/addedTo": {
        "POST": ApiOperation(
            schemas.added_to,
            "group schemas",
            ApiAnswer("The groups", bodies.AddedToBody, example={"groups": {"orders": _VERSION}}, media=_MEDIA),
            query=(_NAMESPACE,),
            **_POSTED,
        )
    },
}
_OF_ENCODINGS: Table = {
    "/v1/groups/{}/encodings": {
        "PUT": ApiOperation(
            encodings.get_encoding_id,
            "encodings",
            ApiAnswer("The id", bodies.EncodingIdBody, example={"encodingId": 0}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
            sent=bodies.FindEncodingBody,
            sent_example={"versionInfo": _VERSION, "codecType": ""},
            errors=(412,),
            writes=True,
        )
    },
    "/v1/groups/{}/encodings/{}": {
        "GET": ApiOperation(
            encodings.get_encoding,
            "encodings",
            ApiAnswer(
                "What the id stands for",
                bodies.EncodingInfoBody,
                example={"schemaInfo": _INFO, "versionInfo": _VERSION, "codecType": {"name": "", "properties": {}}},
                media=_MEDIA,
            ),
            (_GROUP, ApiParameter("id", "An encoding id of the group, from 0", "integer", example=0)),
            (_NAMESPACE,),
        )
    },
    "/v1/groups/{}/codecTypes": {
        "GET": ApiOperation(
            encodings.list_codecs,
            "encodings",
            ApiAnswer("The codecs", bodies.CodecTypesBody, example={"codecTypes": []}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        ),
        "POST": ApiOperation(
            encodings.add_codec,
            "encodings",
            _creation("The group has the codec"),
            (_GROUP,),
            (_NAMESPACE,),
            sent=bodies.CodecTypeBody,
            sent_example={"name": "application/x-gzip", "properties": {}},
            errors=(409,),
            writes=True,
        ),
    },
}
TABLE: Table = {**_OF_GROUPS, **_OF_SCHEMAS, **_OF_ENCODINGS}
"""Operations by path and method; an open segment is ``{}``, and a group is always the first one."""

ROUTES = build_routes(TABLE)
"""The same, ready to be searched."""

DESCRIPTION = ApiDescription(
    "pravega",
    GROUPS,
    TABLE,
    bodies.PravegaErrorBody,
    {"code": "subject-not-found", "message": "Subject 'orders' not found."},
    {
        400: "The path, a member of the body or the schema is not valid",
        404: "No such path, group, version or encoding",
        409: "The schema is incompatible, the type is another one, the policy is not the expected one, or the group exists; "
        "`code` says which",
        412: "The group does not have the codec",
        417: "The group takes schemas of another format",
    },
)

NAMESPACE = ("v1", "namespace")
"""How a path in a namespace begins; the name follows."""


def in_namespace(segments: tuple[str, ...], query_string: bytes) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the path without its namespace, and the query with it.

    The namespace of a path wins over that of the query. Of several members with one name the first one counts.
    """
    query = first_members(query_string)
    if segments[:2] == NAMESPACE and len(segments) > 3:
        query["namespace"] = segments[2]
        return ("v1", *segments[3:]), query
    return segments, query
