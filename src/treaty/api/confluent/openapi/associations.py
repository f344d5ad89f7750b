"""Descriptions of the routes of associations."""

from dataclasses import replace

from treaty.api.confluent.openapi.parts import PAGE, POSTED, SUBJECT, ApiAnswer, ApiOperation, ApiParameter, Table, flag
from treaty.wire.confluent.associations import AssociateBody, ChangesBody, GetsBody, ResourceBody, ResultsBody
from treaty.wire.confluent.listings import AssociationBody

_ONE = {
    "subject": "orders-value",
    "resourceName": "orders",
    "resourceNamespace": "lkc-1",
    "resourceId": "r1",
    "resourceType": "topic",
    "associationType": "value",
    "lifecycle": "WEAK",
    "frozen": False,
}
_RESOURCE = {name: _ONE[name] for name in ("resourceName", "resourceNamespace", "resourceId", "resourceType")}
_BOUND = {name: _ONE[name] for name in ("subject", "associationType", "lifecycle", "frozen")}
_ID = ApiParameter("resource", "Id of a resource", example="r1")
_CONTEXT = ApiParameter("context", "The context of subjects without a context in their name", example=".")
_DRY = flag("dryRun", "Answer what the request would do, and write nothing")
_CASCADE = flag("cascadeLifecycle", "Hard-delete the subjects of strong associations too, frozen ones included")
_LIST = ApiAnswer("Associations, at most 1,000 at a time", list[AssociationBody], example=[_ONE])
_CHOSEN = (
    ApiParameter("resourceType", "Kind of resource", default="topic"),
    ApiParameter("associationType", "`key` or `value`; default: both", repeated=True, example=["value"]),
    ApiParameter("lifecycle", "Only associations of this lifecycle", choices=("STRONG", "WEAK")),
    *PAGE,
)
_RESULTS = ApiAnswer(
    "One result or error for each entry, in their order",
    ResultsBody,
    status=207,
    example={"results": [{"error": {"error_code": 40410, "message": "Association for 'r2' not found."}}]},
)

_ASSOCIATE = ApiOperation(
    "associations",
    ApiAnswer("The resource, and what is bound to it", ResourceBody, example={**_RESOURCE, "associations": [_BOUND]}),
    query=(_CONTEXT, _DRY),
    sent=AssociateBody,
    sent_example={**_RESOURCE, "associations": [{**_BOUND, "schema": POSTED}]},
    errors=(40901, 40902, 40903, 40904, 40905, 40907, 40908, 42201, 42203, 42205, 42208, 42209, 42210, 42212),
    writes=True,
)

TABLE: Table = {
    "/associations": {"POST": _ASSOCIATE},
    "/associations:batchMutate": {
        "POST": ApiOperation(
            "associations",
            _RESULTS,
            query=(_CONTEXT, _DRY),
            sent=ChangesBody,
            sent_example={
                "requests": [{**_RESOURCE, "associations": [{"opType": "UPSERT", **_BOUND, "schema": POSTED}]}]
            },
            errors=(42212,),
            writes=True,
        )
    },
    "/associations/subjects/{}": {"GET": ApiOperation("associations", _LIST, (SUBJECT,), _CHOSEN)},
    "/associations/resources/{}": {
        "GET": ApiOperation("associations", _LIST, (_ID,), _CHOSEN),
        "PUT": replace(_ASSOCIATE, path=(_ID,)),
        "DELETE": ApiOperation(
            "associations",
            ApiAnswer("The associations are deleted", status=204),
            (_ID,),
            (*_CHOSEN[:2], _CASCADE, _DRY),
            errors=(40410, 40908, 42205, 42206),
            writes=True,
        ),
    },
    "/associations/resources/{}/{}": {
        "GET": ApiOperation(
            "associations",
            _LIST,
            (
                ApiParameter(
                    "namespace", "Namespace of a resource; for a topic its cluster; `-` matches any", example="-"
                ),
                ApiParameter("name", "Name of a resource; `-` matches any", example="orders"),
            ),
            _CHOSEN,
        )
    },
    "/associations:batchGet": {
        "POST": ApiOperation(
            "associations",
            _RESULTS,
            query=(flag("includeSchemas", "The latest schema of each subject too"),),
            sent=GetsBody,
            sent_example={"requests": [{"resourceId": "r1"}, {"resourceName": "orders", "resourceNamespace": "lkc-1"}]},
            errors=(42212,),
        )
    },
}
