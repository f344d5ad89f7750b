"""Descriptions of the routes of Pravega's registry."""

from collections.abc import Mapping
from typing import Any

from treaty.api.confluent.openapi.parts import ApiAnswer, ApiDialect, ApiOperation, ApiParameter, Table
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
            "groups",
            ApiAnswer("The properties", bodies.GroupPropertiesBody, example=_PROPERTIES, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        ),
        "DELETE": ApiOperation("groups", _GONE, (_GROUP,), (_NAMESPACE,), errors=(409,), writes=True),
    },
    "/v1/groups/{}/history": {
        "GET": ApiOperation(
            "groups",
            ApiAnswer("The history", bodies.GroupHistoryBody, example={"history": []}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        )
    },
    "/v1/groups/{}/compatibility": {
        "PUT": ApiOperation(
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
        "GET": ApiOperation("group schemas", _VERSIONS, (_GROUP,), (_NAMESPACE, _TYPE)),
        "POST": ApiOperation(
            "group schemas",
            _version("The version", 201),
            (_GROUP,),
            (_NAMESPACE,),
            errors=(409, 417),
            writes=True,
            **_POSTED,
        ),
    },
    "/v1/groups/{}/schemas/versions": {"GET": ApiOperation("group schemas", _VERSIONS, (_GROUP,), (_NAMESPACE, _TYPE))},
    "/v1/groups/{}/schemas/versions/find": {
        "POST": ApiOperation("group schemas", _version("The version"), (_GROUP,), (_NAMESPACE,), **_POSTED)
    },
    "/v1/groups/{}/schemas/versions/validate": {
        "POST": ApiOperation(
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
            "group schemas",
            ApiAnswer("Whether it can read", bodies.CanReadBody, example={"compatible": True}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
            **_POSTED,
        )
    },
    "/v1/groups/{}/schemas/schema/{}": {
        "GET": ApiOperation("group schemas", _SCHEMA, (_GROUP, _ID), (_NAMESPACE,)),
        "DELETE": ApiOperation("group schemas", _GONE, (_GROUP, _ID), (_NAMESPACE,), errors=(409,), writes=True),
    },
    "/v1/groups/{}/schemas/format/{}/type/{}/versions/{}": {
        "GET": ApiOperation("group schemas", _SCHEMA, _TYPED, (_NAMESPACE,)),
        "DELETE": ApiOperation("group schemas", _GONE, _TYPED, (_NAMESPACE,), errors=(409,), writes=True),
    },
    "/v1/schemas/addedTo": {
        "POST": ApiOperation(
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
            "encodings",
            ApiAnswer("The codecs", bodies.CodecTypesBody, example={"codecTypes": []}, media=_MEDIA),
            (_GROUP,),
            (_NAMESPACE,),
        ),
        "POST": ApiOperation(
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
_SENTENCES: Mapping[tuple[str, str], str] = {
    (
        "/v1/groups",
        "GET",
    ): "Lists groups that the caller may read by name, with their properties; `continuationToken` of a "
    "page is that of the next one, and an empty page is the last.",
    (
        "/v1/groups",
        "POST",
    ): "Creates a group without schemas; 409 if there is one of this name, whose properties do not change.",
    ("/v1/groups/{}", "GET"): "The properties of a group.",
    (
        "/v1/groups/{}",
        "DELETE",
    ): "Removes a group with its schemas, codecs and encodings; 204 also if there is none. 409 if "
    "schemas of others refer to its schemas.",
    (
        "/v1/groups/{}/history",
        "GET",
    ): "The versions of a group in the order in which they were added, each with the policy that was in "
    "force; deleted ones are left out.",
    (
        "/v1/groups/{}/compatibility",
        "PUT",
    ): "Changes the policy of a group; with `previousCompatibility` only if the policy in force is that one, else 409.",
    (
        "/v1/groups/{}/schemas",
        "GET",
    ): "The newest schema of each format and type, by id; with `type` of this one alone.",
    (
        "/v1/groups/{}/schemas",
        "POST",
    ): "Adds a schema, unless the group has it; answers its version. 409 if the policy or the types of "
    "the group refuse it, 417 if its format does.",
    (
        "/v1/groups/{}/schemas/versions",
        "GET",
    ): "The schemas of a group by id, without deleted ones; with `type` those of this type alone.",
    (
        "/v1/groups/{}/schemas/versions/find",
        "POST",
    ): "The newest version with this schema; its properties are not compared.",
    (
        "/v1/groups/{}/schemas/versions/validate",
        "POST",
    ): "Says whether a schema would be added, by this policy or that of the group; nothing is added.",
    (
        "/v1/groups/{}/schemas/versions/canRead",
        "POST",
    ): "Says whether a reader with this schema can read what the policy of the group lets writers write.",
    ("/v1/groups/{}/schemas/schema/{}", "GET"): "A schema by id, also a deleted one.",
    (
        "/v1/groups/{}/schemas/schema/{}",
        "DELETE",
    ): "Deletes a schema by id: lists and checks skip it, payloads can still be read. 204 also for a deleted one.",
    (
        "/v1/groups/{}/schemas/format/{}/type/{}/versions/{}",
        "GET",
    ): "A schema by format, type and version, also a deleted one.",
    (
        "/v1/groups/{}/schemas/format/{}/type/{}/versions/{}",
        "DELETE",
    ): "Deletes a schema by format, type and version, as by id.",
    (
        "/v1/groups/{}/encodings",
        "PUT",
    ): "The encoding id of a version, by its `id`, and a codec; they get one if they have none. 412 if "
    "the group does not have the codec.",
    ("/v1/groups/{}/encodings/{}", "GET"): "What an encoding id stands for; its version may be deleted.",
    ("/v1/groups/{}/codecTypes", "GET"): "The codecs that were added to a group, by name.",
    (
        "/v1/groups/{}/codecTypes",
        "POST",
    ): "Adds a codec to a group; 409 if the group has one of this name with other properties, which never change.",
    (
        "/v1/schemas/addedTo",
        "POST",
    ): "The groups of a namespace that have this schema, each with its newest version; deleted versions do not count.",
}
"""What each route does; its endpoint says the same."""

DIALECT = ApiDialect(
    "pravega",
    {**_OF_GROUPS, **_OF_SCHEMAS, **_OF_ENCODINGS},
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
    _SENTENCES,
)
