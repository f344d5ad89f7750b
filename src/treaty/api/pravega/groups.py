"""Endpoints of groups: created, listed, changed, removed, and their history."""

from contextlib import suppress
from dataclasses import replace

from treaty.api.pravega.descriptors import all_with_descriptors
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange
from treaty.core.limits import GROUPS_PAGE
from treaty.core.messages.groups import ChangeSubject, GetHistory, GetSubject, GroupFound, ListGroups, RemoveSubject
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, Invalid
from treaty.wire.pravega.bodies import (
    CreateGroupBody,
    GroupHistoryBody,
    GroupPropertiesBody,
    GroupsPageBody,
    PravegaErrorBody,
    UpdatePolicyBody,
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


async def list_groups(x: PravegaExchange) -> PravegaAnswer:
    """Lists groups that the caller may read by name, with their properties; `continuationToken` of a page is that of the next one, and an empty page is the last."""
    context, limit = x.context, _limit(x.query.get("limit", ""))
    after = name_after(context, x.query.get("continuationToken", ""))
    page = await x.registry.ask(ListGroups(context, after, limit))
    groups = {group_name(group.subject, context): await _describe_properties(x, group) for group in page.groups}
    return PravegaAnswer(200, GroupsPageBody(groups, page_token(context, page.last)))


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


async def _describe_properties(x: PravegaExchange, group: GroupFound) -> GroupPropertiesBody:
    subject = Subject(x.context, group_name(group.subject, x.context))
    return group_body(group, await x.versions_named(subject, group.level))


async def create_group(x: PravegaExchange) -> PravegaAnswer:
    """Creates a group without schemas; 409 if there is one of this name, whose properties do not change."""
    request = create_of(x.namespace, await x.body(CreateGroupBody))
    created = await x.registry.ask(request)
    if created.created:
        return PravegaAnswer(201)
    message = f"The group '{request.subject.name}' exists"
    remedy = "use the group as it is, change its compatibility, or choose another name"
    return PravegaAnswer(409, PravegaErrorBody("group-exists", message, ["GROUP_EXISTS"], [remedy]))


async def get_group(x: PravegaExchange) -> PravegaAnswer:
    """The properties of a group."""
    return PravegaAnswer(200, await _describe_properties(x, await x.registry.ask(GetSubject(x.subject))))


async def delete_group(x: PravegaExchange) -> PravegaAnswer:
    """Removes a group with its schemas, codecs and encodings; 204 also if there is none. 409 if schemas of others refer to its schemas."""
    await x.registry.ask(RemoveSubject(x.subject))
    return PravegaAnswer(204)


async def update_compatibility(x: PravegaExchange) -> PravegaAnswer:
    """Changes the policy of a group; with `previousCompatibility` only if the policy in force is that one, else 409."""
    body = await x.body(UpdatePolicyBody)
    level = level_of(body.compatibility)
    previous = body.previous_compatibility
    expected = None if previous is None else level_of(previous, "/previousCompatibility")
    with suppress(Forbidden):  # who may change the policy may not always read it; additions are checked again
        refuse_comparing(level, (await x.registry.ask(GetSubject(x.subject))).format)
    await x.registry.ask(ChangeSubject(x.subject, level, expected))
    return PravegaAnswer(200)


async def get_history(x: PravegaExchange) -> PravegaAnswer:
    """The versions of a group in the order in which they were added, each with the policy that was in force; deleted ones are left out."""
    history = await x.registry.ask(GetHistory(x.subject))
    named = await x.versions_named(x.subject, *map(policy_at, history.versions))
    versions = await all_with_descriptors(x, (entry.version for entry in history.versions))
    entries = [replace(entry, version=version) for entry, version in zip(history.versions, versions, strict=True)]
    records = [history_record(entry, compatibility_body(policy_at(entry), named)) for entry in entries]
    return PravegaAnswer(200, GroupHistoryBody(records))
