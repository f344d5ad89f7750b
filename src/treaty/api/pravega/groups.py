"""Groups: created, listed, changed, removed, and their history."""

from treaty.api.pravega.exchange import Answer, PravegaExchange
from treaty.core.groups import ChangeSubject, GetHistory, GetSubject, GroupFound, ListGroups, RemoveSubject
from treaty.core.limits import GROUPS_PAGE
from treaty.core.names import Subject
from treaty.core.refusals import Invalid
from treaty.wire.pravega.bodies import (
    CreateGroup,
    GroupHistory,
    GroupProperties,
    GroupsPage,
    PravegaError,
    UpdateCompatibility,
)
from treaty.wire.pravega.groups import (
    create_of,
    group_body,
    group_name,
    history_record,
    name_after,
    page_token,
    policy_at,
    refuse_comparing,
)
from treaty.wire.pravega.policies import compatibility_body, level_of

PAGE = 100
"""Groups in a page, where no limit is given."""


async def list_groups(x: PravegaExchange) -> Answer:
    """Lists groups that the caller may read by name, with their properties; `continuationToken` of a page is that of the next one, and an empty page is the last."""
    context, limit = x.context, _limit(x.query.get("limit", ""))
    after = name_after(context, x.query.get("continuationToken", ""))
    page = await x.ask(ListGroups(context, after, limit))
    groups = {group_name(one.subject, context): await _shown(x, one) for one in page.groups}
    return Answer(200, GroupsPage(groups, page_token(context, page.last)))


def _limit(text: str) -> int:
    if not text:
        return PAGE
    if text.isascii() and text.isdigit() and len(text) <= len(str(GROUPS_PAGE)) and 1 <= int(text) <= GROUPS_PAGE:
        return int(text)
    raise Invalid.of(
        "LIMIT",
        f"The limit '{text[:100]}' can't be one",
        path="/limit",
        new=text[:100],
        allowed=f"1 to {GROUPS_PAGE}, and {PAGE} where there is none",
    )


async def _shown(x: PravegaExchange, found: GroupFound) -> GroupProperties:
    subject = Subject(x.context, group_name(found.subject, x.context))
    return group_body(found, await x.versions_named(subject, found.level))


async def create_group(x: PravegaExchange) -> Answer:
    """Creates a group without schemas; 409 if there is one of this name, whose properties do not change."""
    request = create_of(x.namespace, await x.body(CreateGroup))
    created = await x.ask(request)
    if created.created:
        return Answer(201)
    message = f"The group '{request.subject.name}' exists"
    remedy = "use the group as it is, change its compatibility, or choose another name"
    return Answer(409, PravegaError("group-exists", message, ["GROUP_EXISTS"], [remedy]))


async def get_group(x: PravegaExchange) -> Answer:
    """The properties of a group."""
    return Answer(200, await _shown(x, await x.ask(GetSubject(x.subject))))


async def delete_group(x: PravegaExchange) -> Answer:
    """Removes a group with its schemas, codecs and encodings; 204 also if there is none. 409 if schemas of others refer to its schemas."""
    await x.ask(RemoveSubject(x.subject))
    return Answer(204)


async def update_compatibility(x: PravegaExchange) -> Answer:
    """Changes the policy of a group; with `previousCompatibility` only if the policy in force is that one, else 409."""
    body = await x.body(UpdateCompatibility)
    level = level_of(body.compatibility)
    previous = body.previous_compatibility
    expected = None if previous is None else level_of(previous, "/previousCompatibility")
    refuse_comparing(level, (await x.ask(GetSubject(x.subject))).format)
    await x.ask(ChangeSubject(x.subject, level, expected))
    return Answer(200)


async def get_history(x: PravegaExchange) -> Answer:
    """The versions of a group in the order in which they were added, each with the policy that was in force; deleted ones are left out."""
    found = await x.ask(GetHistory(x.subject))
    named = await x.versions_named(x.subject, *map(policy_at, found.versions))
    records = [history_record(one, compatibility_body(policy_at(one), named)) for one in found.versions]
    return Answer(200, GroupHistory(records))
