"""Endpoints of the groups of the proposal AVRO-1124: lists, schemas by id, and registration.

The scheme of its group says what the id of a schema is: its ordinal + 1, or what another id scheme computes.
"""

from dataclasses import replace

from treaty.api.errors import HttpError
from treaty.api.schemarepo.exchange import SchemaRepoExchange
from treaty.api.schemarepo.subjects import latest_version, subject_names
from treaty.core.messages.groups import ANY_FORMAT, GetSubject, GroupFound, ListGroupVersions
from treaty.core.messages.names import SEQUENCE, GetNamedVersion
from treaty.core.messages.policies import GetPolicy
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSubject, NotPermitted, SettingNotFound, SubjectNotFound
from treaty.core.schema import Draft
from treaty.wire.schemarepo.requests import (
    force_of,
    group_creation,
    id_of,
    id_scheme_of,
    model_of,
    model_word,
    new_subject_named,
    refuse_other_scheme,
    subject_named,
    unknown_model,
)
from treaty.wire.schemarepo.texts import sent_text

WORDS = frozenset({"latest", "groups"})
"""Words of paths, which no group has as its name."""


async def list_groups(x: SchemaRepoExchange) -> str | bytes:
    """Names of groups, one in each line."""
    return "".join([f"{name}\n" async for name in subject_names(x)])


async def list_ids(x: SchemaRepoExchange) -> str | bytes:
    """Ids of the schemas of a group, the oldest first, one in each line."""
    subject = subject_named(x.values[0])
    scheme = id_scheme_of(await x.registry.ask(GetSubject(subject)))
    listed = await x.registry.ask(ListGroupVersions(subject))
    ids = dict.fromkeys(id_of(version, scheme) for version in listed.versions)
    return "".join(f"{id_}\n" for id_ in ids if id_)


async def get_schema(x: SchemaRepoExchange) -> str | bytes:
    """The schema with this id, exactly as it was sent; also one that was deleted."""
    return sent_text(await x.registry.ask(GetNamedVersion(subject_named(x.values[0]), x.values[1])))


async def get_latest(x: SchemaRepoExchange) -> str | bytes:
    """The schema that was registered last."""
    return sent_text(await latest_version(x, subject_named(x.values[0])))


async def register(x: SchemaRepoExchange) -> str | bytes:
    """Registers the parameter `schema` and answers its id; the group is created with its first schema.

    `compatibility_model` is the level of a new group (the default is NONE), or the name of a policy; for a group that exists it has no
    effect, and the header `Treaty-Compatibility-Model` of the answer names its policy or level. `id_scheme` is the scheme of ids of a new
    group: `sequence` (the default), `md5`, `crc-64-avro`, `sha-256` or a plug-in's. `force_override=true` skips the check, and the version
    records that.
    """
    form = await x.form()
    text = form.get("schema", "")
    if not text:
        raise HttpError(400, "the parameter schema is missing or empty; allowed: the text of a schema")
    subject = _group_named(x.values[0])
    scheme = form.get("id_scheme", "").strip().lower()
    model = await _find_model(x, form.get("compatibility_model", "").strip())
    request = Register(subject, Draft(text, "AVRO"), force=force_of(form.get("force_override", "")))
    group = await _find_group(x, subject)
    registered = await _create(x, request, model, scheme) if group is None else None
    if registered is None:
        group = await x.registry.ask(GetSubject(subject)) if group is None else group
        refuse_other_scheme(group, scheme)
        registered = await _add(x, request, model, group)
    return id_of(registered.version, scheme or SEQUENCE if group is None else id_scheme_of(group))


async def _find_model(x: SchemaRepoExchange, word: str) -> Config | None:
    """Return the policy that a compatibility model names; None without one. Raises `InvalidSetting` for an unknown one."""
    model = model_of(word) if word else None
    if model is not None and model.follows is not None:
        try:
            await x.registry.ask(GetPolicy(model.follows))
        except SettingNotFound:
            raise unknown_model(word) from None
    return model


async def _find_group(x: SchemaRepoExchange, subject: Subject) -> GroupFound | None:
    try:
        return await x.registry.ask(GetSubject(subject))
    except SubjectNotFound:
        return None


async def _create(
    x: SchemaRepoExchange, request: Register, model: Config | None, scheme: str
) -> RegisteredVersion | None:
    """Register the first schema of a group that does not exist; None where it exists by now."""
    new_subject_named(request.subject.name)
    creation = group_creation(model, scheme)
    try:
        return await x.registry.ask(replace(request, create_with=creation))
    except NotPermitted as refused:
        if refused.reason.rule == "CREATE_WITH_POLICY":
            return None
        if refused.reason.rule != "CREATE_WITH_CONFIG" or model is not None:
            raise
    return await x.registry.ask(
        replace(request, create_with=replace(creation, policy=None))
    )  # the config that is there counts


async def _add(x: SchemaRepoExchange, request: Register, model: Config | None, group: GroupFound) -> RegisteredVersion:
    """Register a schema in a group that exists, whose own policy counts."""
    theirs = model_word(group.config, group.level)
    if model is not None and theirs not in {model.level, model.follows}:
        x.ignored = theirs
    draft = replace(request.draft, format=ANY_FORMAT)
    creation = replace(group_creation(None), policy=None)
    return await x.registry.ask(replace(request, draft=draft, create_with=creation, require_subject=True))


def _group_named(name: str) -> Subject:
    if name in WORDS:
        raise InvalidSubject.of(
            "GROUP_NAME",
            f"'{name}' is a word of paths and not the name of a group",
            subject=name,
            new=name,
            allowed="another name",
        )
    return subject_named(name)
