"""Endpoints of associations of topics with subjects: read by subject, name or id, created, updated, deleted, and many in one request."""

from dataclasses import replace

from treaty.api.confluent.exchange import ConfluentExchange, MultiStatus, NoContent
from treaty.api.confluent.parameters import PAGE, POSTED, SUBJECT
from treaty.api.confluent.query import PathNotFoundError
from treaty.api.dialects.description import ApiAnswer, ApiOperation, ApiParameter, Table, flag
from treaty.core.handlers.association_queries import invalid_association
from treaty.core.limits import ASSOCIATIONS_LISTED
from treaty.core.messages import associations as t
from treaty.core.names import DEFAULT_CONTEXT, context_of
from treaty.wire.confluent.associations import (
    AssociateBody,
    ChangesBody,
    GetsBody,
    ResourceBody,
    ResultsBody,
    associate_of,
    changes_of,
    get_of,
    resource_body,
    results_body,
)
from treaty.wire.confluent.listings import AssociationBody, association_body


async def of_subject(x: ConfluentExchange) -> object:
    """Associations of a subject, paged; an empty list where there are none."""
    return await _list_associations(x, t.OfSubject(x.subject))


async def of_name(x: ConfluentExchange) -> object:
    """Associations of a resource by namespace and name, paged; `-` matches any namespace or any name."""
    namespace, name = x.values
    return await _list_associations(x, t.OfName(name, namespace))


async def of_id(x: ConfluentExchange) -> object:
    """Associations of a resource by its id, paged."""
    return await _list_associations(x, t.OfId(x.values[0]))


async def _list_associations(x: ConfluentExchange, of: t.OfSubject | t.OfName | t.OfId) -> object:
    lifecycle = (x.query.get("lifecycle") or "").upper()
    if lifecycle and lifecycle not in t.LIFECYCLES:
        raise PathNotFoundError(f"{lifecycle[:100]!r} is not STRONG or WEAK")
    request = t.ListAssociations(
        of,
        x.query.get("resourceType") or t.TOPIC,
        tuple(kind for kind in x.query.get_all("associationType") if kind),
        lifecycle,
        x.query.offset(),
        x.query.limit(ASSOCIATIONS_LISTED),
    )
    return [association_body(association) for association in (await x.registry.ask(request)).associations]


async def batch_get(x: ConfluentExchange) -> object:
    """Associations of several resources, with `includeSchemas=true` the latest schema of each; answers 207 with one result for each entry."""
    body = await x.body(GetsBody)
    request = t.GetAssociations(tuple(get_of(get) for get in body.requests or ()), x.query.flag("includeSchemas"))
    return MultiStatus(results_body(await x.registry.ask(request), details=x.details))


async def create(x: ConfluentExchange) -> object:
    """Binds a resource to subjects, and registers the schemas in the request; `dryRun=true` writes nothing."""
    body = await x.body(AssociateBody)
    return await _associate(x, associate_of(body, _context(x), update=False, dry_run=x.query.flag("dryRun")))


async def update(x: ConfluentExchange) -> object:
    """Binds a resource to subjects, or changes lifecycle and `frozen` of its associations; the id is in the path."""
    body = await x.body(AssociateBody)
    request = associate_of(body, _context(x), update=True, dry_run=x.query.flag("dryRun"))
    if request.resource.id not in {"", x.values[0]}:
        raise invalid_association(
            "resourceId", "is another one than that in the path", request.resource.id, allowed=x.values[0]
        )
    return await _associate(x, replace(request, resource=replace(request.resource, id=x.values[0])))


async def _associate(x: ConfluentExchange, request: t.Associate) -> ResourceBody:
    body = resource_body(await x.registry.ask(request), details=x.details)
    if request.dry_run and not x.details:
        body.associations = None
    return body


async def delete(x: ConfluentExchange) -> object:
    """Deletes associations of a resource; `cascadeLifecycle=true` hard-deletes the subjects of strong ones. Answers 204 without a body."""
    kinds = tuple(kind for kind in x.query.get_all("associationType") if kind)
    type_ = x.query.get("resourceType") or t.TOPIC
    flags = x.query.flag("cascadeLifecycle"), x.query.flag("dryRun")
    await x.registry.ask(t.Dissociate(x.values[0], type_, kinds, *flags))
    return NoContent()


async def batch_change(x: ConfluentExchange) -> object:
    """Creates, changes and deletes associations of several resources; answers 207 with one result for each entry, and writes all accepted entries in one commit."""
    body = await x.body(ChangesBody)
    answer = await x.registry.ask(changes_of(body, _context(x), dry_run=x.query.flag("dryRun")))
    results = results_body(answer, details=x.details)
    if x.query.flag("dryRun") and not x.details:
        for result in results.results:
            if result.result is not None:
                result.result.associations = None
    return MultiStatus(results)


def _context(x: ConfluentExchange) -> str:
    """The context of subjects that name none."""
    word = x.query.get("context")
    return context_of(word) if word else DEFAULT_CONTEXT


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
    create,
    "associations",
    ApiAnswer("The resource, and what is bound to it", ResourceBody, example={**_RESOURCE, "associations": [_BOUND]}),
    query=(_CONTEXT, _DRY),
    sent=AssociateBody,
    sent_example={**_RESOURCE, "associations": [{**_BOUND, "schema": POSTED}]},
    errors=(40901, 40902, 40903, 40904, 40905, 40907, 40908, 42201, 42203, 42205, 42208, 42209, 42210, 42212),
    writes=True,
)

ROUTES: Table = {
    "/associations": {"POST": _ASSOCIATE},
    "/associations:batchMutate": {
        "POST": ApiOperation(
            batch_change,
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
    "/associations/subjects/{}": {"GET": ApiOperation(of_subject, "associations", _LIST, (SUBJECT,), _CHOSEN)},
    "/associations/resources/{}": {
        "GET": ApiOperation(of_id, "associations", _LIST, (_ID,), _CHOSEN),
        "PUT": replace(_ASSOCIATE, endpoint=update, path=(_ID,)),
        "DELETE": ApiOperation(
            delete,
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
            of_name,
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
            batch_get,
            "associations",
            _RESULTS,
            query=(flag("includeSchemas", "The latest schema of each subject too"),),
            sent=GetsBody,
            sent_example={"requests": [{"resourceId": "r1"}, {"resourceName": "orders", "resourceNamespace": "lkc-1"}]},
            errors=(42212,),
        )
    },
}
