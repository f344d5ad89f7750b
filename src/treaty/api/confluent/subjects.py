"""Subjects and their versions."""

from urllib.parse import unquote

from treaty.api.confluent.exchange import Exchange, Text
from treaty.api.confluent.query import version_of
from treaty.api.confluent.views import as_posted, qualified, viewed, viewed_if_possible
from treaty.core import requests as q
from treaty.core.answers import RegisteredVersion, VersionFound
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.schema import Pairs
from treaty.wire.confluent.drafts import DeriveBody, DraftBody, derive_of, draft_of, register_of
from treaty.wire.confluent.versions import SchemaBody, registered_body, version_body


async def list_subjects(x: Exchange) -> object:
    """Names of subjects, sorted and paged, beginning after `after`; without `subjectPrefix` of all contexts, with an empty one of the default context."""
    prefix = x.query.get("subjectPrefix", "subject")
    start = Subject(EVERYWHERE, "") if prefix is None else subject_of(prefix)
    offset, limit = x.query.offset(), x.query.limit()
    return (await x.ask(q.ListSubjects(start, x.query.visible(), offset, limit, x.query.get("after")))).names


async def lookup(x: Exchange) -> object:
    """The version of the subject that equals the posted schema; 40403 if there is none."""
    draft = draft_of(await x.body(DraftBody))
    deleted = x.query.flag("deleted")
    return await _shown(x, await x.ask(q.Lookup(x.subject, draft, x.query.flag("normalize") or None, deleted)))


async def find(x: Exchange) -> object:
    """The newest version whose metadata has all `key`/`value` pairs; values that are percent-encoded twice are accepted."""
    members = tuple(zip(x.query.all("key"), x.query.all("value"), strict=False))
    deleted = x.query.flag("deleted")
    try:
        return await _shown(x, await x.ask(q.FindVersion(x.subject, tuple(sorted(members)), deleted)))
    except SchemaNotFound:
        again = _decoded_again(members)
        if again == tuple(sorted(members)):
            raise
        return await _shown(x, await x.ask(q.FindVersion(x.subject, again, deleted)))


def _decoded_again(members: Pairs) -> Pairs:
    return tuple(sorted((unquote(key), unquote(value)) for key, value in members))


async def delete_subject(x: Exchange) -> object:
    """Soft-deletes all versions, or with `permanent=true` removes soft-deleted ones for good; answers their numbers."""
    return (await x.ask(q.DeleteSubject(x.subject, x.query.flag("permanent")))).numbers


async def list_versions(x: Exchange) -> object:
    """Version numbers, ascending and paged; `deletedAsNegative` lists soft-deleted ones as numbers below zero."""
    page, negative = x.query.page(), x.query.flag("deletedAsNegative")
    visible = x.query.visible()
    found = await x.ask(q.ListVersions(x.subject, "all" if negative and visible == "live" else visible))
    hidden = frozenset(found.deleted) if negative else frozenset()
    return [-number if number in hidden else number for number in found.numbers][page]


async def register(x: Exchange) -> object:
    """Registers a schema (idempotent); answers its version, id and guid. `force=true` skips the policy, and the version records that."""
    body = await x.body(DraftBody)
    force = q.ForceReason(x.call.principal, "force=true") if x.query.flag("force") else None
    normalize, exact = x.query.flag("normalize") or None, x.query.itself()
    request = register_of(x.subject, body, normalize=normalize, force=force, exact=exact)
    registered = await x.ask(request)
    usual = "" if x.details else as_posted(request.draft.text)  # our own clients are told what is stored
    version = await viewed_if_possible(x, registered.version, usual)
    return registered_body(RegisteredVersion(version, registered.created), details=x.details)


async def derive(x: Exchange) -> object:
    """Registers a copy of this version with tags added and removed, or with other metadata or rules."""
    request = derive_of(x.subject, version_of(x.values[1], x.subject), await x.body(DeriveBody))
    return registered_body(await x.ask(request), details=x.details)


async def get_version(x: Exchange) -> object:
    """One version, by number, `latest` or -1.

    `findTags` lists the parts of the schema with one of these tags (`*`: any). `alias=false`, which is Treaty's own, reads an alias
    itself and not its target.
    """
    number = version_of(x.values[1], x.subject)
    deleted, exact = x.query.flag("deleted"), x.query.itself()
    found = await x.ask(q.GetVersion(x.subject, number, deleted, x.query.tags(), exact))
    x.hot = number != q.LATEST
    return await _shown(x, found)


async def get_text(x: Exchange) -> object:
    """The text of one version, without JSON around it."""
    number = version_of(x.values[1], x.subject)
    found = await viewed(x, await x.ask(q.GetVersion(x.subject, number, x.query.flag("deleted"))))
    x.hot = number != q.LATEST
    return Text(found.text)


async def referenced_by(x: Exchange) -> object:
    """Ids of schemas that refer to this version, ascending and paged."""
    page = x.query.page()
    found = await x.ask(q.ReferencedBy(x.subject, version_of(x.values[1], x.subject), x.query.flag("deleted")))
    return found.ids[page]


async def delete_version(x: Exchange) -> object:
    """Soft-deletes a version, or with `permanent=true` removes a soft-deleted one for good; answers its number."""
    number = version_of(x.values[1], x.subject)
    request = q.DeleteVersion(x.subject, number, x.query.flag("permanent"), x.query.itself())
    return (await x.ask(request)).numbers[0]


async def _shown(x: Exchange, found: VersionFound) -> SchemaBody:
    return qualified(x, version_body(await viewed(x, found), details=x.details), subject_of(found.subject).context)
