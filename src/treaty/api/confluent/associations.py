"""Associations of topics with subjects."""

from treaty.api.confluent.exchange import Exchange, Partial
from treaty.api.confluent.query import NoSuchPath
from treaty.core import associating as t
from treaty.core.limits import ASSOCIATIONS_LISTED
from treaty.wire.confluent.associations import GetsBody, association_body, get_of, results_body


async def of_subject(x: Exchange) -> object:
    """Associations of a subject, paged; an empty list where there are none."""
    return await _listed(x, t.OfSubject(x.subject))


async def of_name(x: Exchange) -> object:
    """Associations of a resource by namespace and name, paged; `-` stands for any namespace, or for any name."""
    namespace, name = x.values
    return await _listed(x, t.OfName(name, namespace))


async def of_id(x: Exchange) -> object:
    """Associations of a resource by its id, paged."""
    return await _listed(x, t.OfId(x.values[0]))


async def _listed(x: Exchange, of: t.OfSubject | t.OfName | t.OfId) -> object:
    lifecycle = (x.query.get("lifecycle") or "").upper()
    if lifecycle and lifecycle not in t.LIFECYCLES:
        raise NoSuchPath(lifecycle)
    request = t.ListAssociations(
        of,
        x.query.get("resourceType") or t.TOPIC,
        tuple(one for one in x.query.all("associationType") if one),
        lifecycle,
        x.query.offset(),
        x.query.limit(ASSOCIATIONS_LISTED),
    )
    return [association_body(one) for one in (await x.ask(request)).associations]


async def batch_get(x: Exchange) -> object:
    """Associations of several resources, with `includeSchemas=true` the latest schema of each; 207, entry by entry."""
    body = await x.body(GetsBody)
    request = t.GetAssociations(tuple(get_of(one) for one in body.requests or ()), x.query.flag("includeSchemas"))
    return Partial(results_body(await x.ask(request), details=x.details))
