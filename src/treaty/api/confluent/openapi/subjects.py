"""Descriptions of the routes of subjects, their versions, and checks."""

from dataclasses import replace

from treaty.api.confluent.openapi.parts import (
    DELETED,
    FORCE,
    FORMAT,
    ITSELF,
    NORMALIZE,
    ONLY_DELETED,
    PAGE,
    PERMANENT,
    POSTED,
    PREFIX,
    QUALIFIED,
    SHOWN,
    SUBJECT,
    TAGS,
    VERSION,
    ApiAnswer,
    ApiOperation,
    ApiParameter,
    Table,
    flag,
)
from treaty.wire.confluent.drafts import DeriveBody, DraftBody
from treaty.wire.confluent.versions import CheckedBody, SchemaBody

VERSION_MEMBERS = ("subject", "version", "id", "guid", "schemaType", "schema", "ts", "deleted")
ONE_VERSION = ApiAnswer("The version", SchemaBody, needed=VERSION_MEMBERS, example=SHOWN)
NUMBERS = ApiAnswer("Version numbers, ascending", list[int], example=[1, 2])
TEXT = ApiAnswer(
    "The text of the schema: JSON, or for Protobuf plain text",
    example={"type": "record"},
    whole={"description": "A schema"},
)
_AFTER = ApiParameter("after", "Begin after this name; replaces `offset`", example="orders-key")
_REGISTERED = {name: value for name, value in SHOWN.items() if name not in {"subject", "ts", "deleted"}}
_CHECKED = ApiAnswer(
    "Whether the schema is compatible; with `verbose` the reasons, in `messages`",
    CheckedBody,
    example={"is_compatible": False, "messages": ["{errorType:'TYPE_MISMATCH', …}"]},
)
_CHECK = ApiOperation(
    "compatibility",
    _CHECKED,
    (SUBJECT,),
    (NORMALIZE, flag("verbose", "Add the reasons, in `messages`")),
    DraftBody,
    POSTED,
    (42201, 42209, 42210),
)

TABLE: Table = {
    "/subjects": {
        "GET": ApiOperation(
            "subjects",
            ApiAnswer("Names, sorted", list[str], example=["orders-key", "orders-value"]),
            query=(replace(PREFIX, also=("subject",)), DELETED, ONLY_DELETED, *PAGE, _AFTER),
        )
    },
    "/subjects/{}": {
        "POST": ApiOperation(
            "subjects",
            ONE_VERSION,
            (SUBJECT,),
            (NORMALIZE, FORMAT, QUALIFIED, DELETED),
            DraftBody,
            POSTED,
            (40401, 40403, 42201, 42209, 42210),
        ),
        "DELETE": ApiOperation(
            "subjects",
            ApiAnswer("Numbers of the versions that were deleted", list[int], example=[1, 2]),
            (SUBJECT,),
            (PERMANENT, FORCE),
            errors=(40401, 40404, 40405, 40904, 40953, 42205, 42206),
            writes=True,
        ),
    },
    "/subjects/{}/versions": {
        "GET": ApiOperation(
            "subjects",
            NUMBERS,
            (SUBJECT,),
            (
                DELETED,
                ONLY_DELETED,
                flag("deletedAsNegative", "Include soft-deleted ones, as numbers below zero"),
                *PAGE,
            ),
            errors=(40401,),
        ),
        "POST": ApiOperation(
            "subjects",
            ApiAnswer(
                "The version, with `ts` and `deleted` if it existed before",
                SchemaBody,
                needed=("version", "id", "guid", "schemaType", "schema"),
                example=_REGISTERED,
            ),
            (SUBJECT,),
            (NORMALIZE, FORMAT, flag("force", "Skip the compatibility policy; the version records that"), ITSELF),
            DraftBody,
            POSTED,
            (40901, 40950, 40951, 40954, 40956, 40957, 42201, 42203, 42205, 42208, 42209, 42210),
            writes=True,
        ),
    },
    "/subjects/{}/metadata": {
        "GET": ApiOperation(
            "subjects",
            ONE_VERSION,
            (SUBJECT,),
            (
                ApiParameter("key", "Names of properties", repeated=True, example=["owner"]),
                ApiParameter("value", "Their values, in the same order", repeated=True, example=["orders"]),
                DELETED,
                FORMAT,
                QUALIFIED,
            ),
            errors=(40401, 40403),
        )
    },
    "/subjects/{}/versions/{}": {
        "GET": ApiOperation(
            "subjects",
            ONE_VERSION,
            (SUBJECT, VERSION),
            (DELETED, TAGS, FORMAT, QUALIFIED, ITSELF),
            errors=(40401, 40402, 42202),
        ),
        "DELETE": ApiOperation(
            "subjects",
            ApiAnswer("The number of the version that was deleted", int, example=1),
            (SUBJECT, VERSION),
            (PERMANENT, FORCE, ITSELF),
            errors=(40401, 40402, 40406, 40407, 40907, 40953, 42202, 42205, 42206),
            writes=True,
        ),
    },
    "/subjects/{}/versions/{}/tags": {
        "POST": ApiOperation(
            "subjects",
            ApiAnswer(
                "The new version",
                SchemaBody,
                needed=("version", "id", "guid", "schemaType", "schema"),
                example=_REGISTERED,
            ),
            (SUBJECT, VERSION),
            sent=DeriveBody,
            sent_example={
                "tagsToAdd": [{"schemaEntity": {"entityPath": "Order.id", "entityType": "sr_field"}, "tags": ["PII"]}]
            },
            errors=(40401, 40402, 40901, 40950, 40951, 40954, 40956, 42201, 42202, 42205, 42208, 42209, 42210),
            writes=True,
        )
    },
    "/subjects/{}/versions/{}/schema": {
        "GET": ApiOperation("subjects", TEXT, (SUBJECT, VERSION), (DELETED, FORMAT), errors=(40401, 40402, 42202))
    },
    "/subjects/{}/versions/{}/referencedby": {
        "GET": ApiOperation(
            "subjects",
            ApiAnswer("Ids of schemas, ascending", list[int], example=[2, 3]),
            (SUBJECT, VERSION),
            (DELETED, *PAGE),
            errors=(40401, 40402, 42202),
        )
    },
    "/compatibility/subjects/{}/versions": {"POST": _CHECK},
    "/compatibility/subjects/{}/versions/{}": {
        "POST": ApiOperation(
            "compatibility",
            _CHECKED,
            (SUBJECT, VERSION),
            _CHECK.query,
            DraftBody,
            POSTED,
            (40402, 42201, 42202, 42209, 42210),
        )
    },
}
