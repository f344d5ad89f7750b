"""Descriptions of the routes of associations."""

from treaty.api.confluent.openapi.parts import PAGE, SUBJECT, Answer, Operation, Parameter, Table, flag
from treaty.wire.confluent.associations import AssociationBody, GetsBody, ResultsBody

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
_LIST = Answer("Associations, at most 1,000 at a time", list[AssociationBody], example=[_ONE])
_CHOSEN = (
    Parameter("resourceType", "What kind of resource", default="topic"),
    Parameter("associationType", "`key`, `value`; all where none is named", repeated=True, example=["value"]),
    Parameter("lifecycle", "Those of this lifecycle alone", choices=("STRONG", "WEAK")),
    *PAGE,
)
_RESULTS = Answer(
    "One result or error for each entry, in their order",
    ResultsBody,
    status=207,
    example={"results": [{"error": {"error_code": 40410, "message": "Association for 'r2' not found."}}]},
)

TABLE: Table = {
    "/associations/subjects/{}": {"GET": Operation("associations", _LIST, (SUBJECT,), _CHOSEN)},
    "/associations/resources/{}": {
        "GET": Operation("associations", _LIST, (Parameter("resource", "Id of a resource", example="r1"),), _CHOSEN)
    },
    "/associations/resources/{}/{}": {
        "GET": Operation(
            "associations",
            _LIST,
            (
                Parameter("namespace", "A namespace, which for a topic is its cluster; `-` is any", example="-"),
                Parameter("name", "A name; `-` is any", example="orders"),
            ),
            _CHOSEN,
        )
    },
    "/associations:batchGet": {
        "POST": Operation(
            "associations",
            _RESULTS,
            query=(flag("includeSchemas", "The latest schema of each subject too"),),
            sent=GetsBody,
            sent_example={"requests": [{"resourceId": "r1"}, {"resourceName": "orders", "resourceNamespace": "lkc-1"}]},
            errors=(42212,),
        )
    },
}
