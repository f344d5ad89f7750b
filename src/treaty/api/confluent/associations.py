"""Associations of topics with subjects."""

from dataclasses import replace

from treaty.api.confluent.query import PathNotFoundError
from treaty.api.confluent.request_context import MultiStatus, NoContent, RequestContext
from treaty.core.answers import TOPIC
from treaty.core.handlers.association_queries import invalid_association
from treaty.core.limits import ASSOCIATIONS_LISTED
from treaty.core.messages import associations as t
from treaty.core.names import DEFAULT_CONTEXT, context_of
from treaty.wire.confluent.associations import (
    AssociateBody,
    ChangesBody,
    GetsBody,
    ResourceBody,
    associate_of,
    changes_of,
    get_of,
    resource_body,
    results_body,
)
from treaty.wire.confluent.listings import association_body


async def of_subject(x: RequestContext) -> object:
    """Associations of a subject, paged; an empty list where there are none."""
    return await _list_associations(x, t.OfSubject(x.subject))


async def of_name(x: RequestContext) -> object:
    """Associations of a resource by namespace and name, paged; `-` matches any namespace or any name."""
    namespace, name = x.values
    return await _list_associations(x, t.OfName(name, namespace))


async def of_id(x: RequestContext) -> object:
    """Associations of a resource by its id, paged."""
    return await _list_associations(x, t.OfId(x.values[0]))


async def _list_associations(x: RequestContext, of: t.OfSubject | t.OfName | t.OfId) -> object:
    lifecycle = (x.query.get("lifecycle") or "").upper()
    if lifecycle and lifecycle not in t.LIFECYCLES:
        raise PathNotFoundError(f"{lifecycle[:100]!r} is not STRONG or WEAK")
    request = t.ListAssociations(
        of,
        x.query.get("resourceType") or TOPIC,
        tuple(one for one in x.query.all("associationType") if one),
        lifecycle,
        x.query.offset(),
        x.query.limit(ASSOCIATIONS_LISTED),
    )
    return [association_body(one) for one in (await x.ask(request)).associations]


async def batch_get(x: RequestContext) -> object:
    """Associations of several resources, with `includeSchemas=true` the latest schema of each; answers 207 with one result for each entry."""
    body = await x.body(GetsBody)
    request = t.GetAssociations(tuple(get_of(one) for one in body.requests or ()), x.query.flag("includeSchemas"))
    return MultiStatus(results_body(await x.ask(request), details=x.details))


async def create(x: RequestContext) -> object:
    """Binds a resource to subjects, and registers the schemas in the request; `dryRun=true` writes nothing."""
    body = await x.body(AssociateBody)
    return await _associate(x, associate_of(body, _context(x), update=False, dry_run=x.query.flag("dryRun")))


async def update(x: RequestContext) -> object:
    """Binds a resource to subjects, or changes lifecycle and `frozen` of its associations; the id is in the path."""
    body = await x.body(AssociateBody)
    request = associate_of(body, _context(x), update=True, dry_run=x.query.flag("dryRun"))
    if request.resource.id not in {"", x.values[0]}:
        raise invalid_association(
            "resourceId", "is another one than that in the path", request.resource.id, allowed=x.values[0]
        )
    return await _associate(x, replace(request, resource=replace(request.resource, id=x.values[0])))


async def _associate(x: RequestContext, request: t.Associate) -> ResourceBody:
    body = resource_body(await x.ask(request), details=x.details)
    if request.dry_run and not x.details:
        body.associations = None
    return body


async def delete(x: RequestContext) -> object:
    """Deletes associations of a resource; `cascadeLifecycle=true` hard-deletes the subjects of strong ones. Answers 204 without a body."""
    kinds = tuple(one for one in x.query.all("associationType") if one)
    type_ = x.query.get("resourceType") or TOPIC
    flags = x.query.flag("cascadeLifecycle"), x.query.flag("dryRun")
    await x.ask(t.Dissociate(x.values[0], type_, kinds, *flags))
    return NoContent()


async def batch_change(x: RequestContext) -> object:
    """Creates, changes and deletes associations of several resources; answers 207 with one result for each entry, and writes all accepted entries in one commit."""
    body = await x.body(ChangesBody)
    answer = await x.ask(changes_of(body, _context(x), dry_run=x.query.flag("dryRun")))
    results = results_body(answer, details=x.details)
    if x.query.flag("dryRun") and not x.details:
        for one in results.results:
            if one.result is not None:
                one.result.associations = None
    return MultiStatus(results)


def _context(x: RequestContext) -> str:
    """The context of subjects that name none."""
    word = x.query.get("context")
    return context_of(word) if word else DEFAULT_CONTEXT
