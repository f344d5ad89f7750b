"""Endpoints of subjects and their versions: lists, look-up, registration, derivation, deletion, and the check of compatibility."""

from dataclasses import replace
from urllib.parse import unquote

from treaty.api.confluent.exchange import ConfluentExchange, PlainText
from treaty.api.confluent.parameters import (
    DELETED,
    FORCE,
    FORMAT,
    ITSELF,
    NORMALIZE,
    ONE_VERSION,
    ONLY_DELETED,
    PAGE,
    PERMANENT,
    POSTED,
    PREFIX,
    QUALIFIED,
    SHOWN,
    SUBJECT,
    TAGS,
    TEXT,
    VERSION,
)
from treaty.api.confluent.query import version_of
from treaty.api.confluent.views import apply_view, as_posted, qualify_references, try_view
from treaty.api.dialects.description import ApiAnswer, ApiOperation, ApiParameter, Table, flag
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import ReferencedBy
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import InvalidSchema, SchemaNotFound
from treaty.core.schema import Pairs
from treaty.wire.confluent.drafts import DeriveBody, DraftBody, derive_of, draft_of, register_of
from treaty.wire.confluent.versions import CheckedBody, SchemaBody, checked_body, registered_body, version_body


async def list_subjects(x: ConfluentExchange) -> object:
    """Names of subjects, sorted and paged, beginning after `after`; without `subjectPrefix` of all contexts, with an empty one of the default context."""
    prefix = x.query.get("subjectPrefix", "subject")
    start = Subject(EVERYWHERE, "") if prefix is None else subject_of(prefix)
    offset, limit = x.query.offset(), x.query.limit()
    return (
        await x.registry.ask(ListSubjects(start, x.query.read_visible(), offset, limit, x.query.get("after")))
    ).names


async def lookup(x: ConfluentExchange) -> object:
    """The version of the subject that equals the posted schema; 40403 if there is none."""
    draft = draft_of(await x.body(DraftBody))
    deleted = x.query.flag("deleted")
    return await _version_body(
        x, await x.registry.ask(Lookup(x.subject, draft, x.query.flag("normalize") or None, deleted))
    )


async def find(x: ConfluentExchange) -> object:
    """The newest version whose metadata has all `key`/`value` pairs; values that are percent-encoded twice are accepted."""
    members = tuple(zip(x.query.get_all("key"), x.query.get_all("value"), strict=False))
    deleted = x.query.flag("deleted")
    try:
        return await _version_body(x, await x.registry.ask(FindVersion(x.subject, tuple(sorted(members)), deleted)))
    except SchemaNotFound:
        again = _decoded_again(members)
        if again == tuple(sorted(members)):
            raise
        return await _version_body(x, await x.registry.ask(FindVersion(x.subject, again, deleted)))


def _decoded_again(members: Pairs) -> Pairs:
    return tuple(sorted((unquote(key), unquote(value)) for key, value in members))


async def delete_subject(x: ConfluentExchange) -> object:
    """Soft-deletes all versions, or with `permanent=true` removes soft-deleted ones for good; answers their numbers."""
    return (await x.registry.ask(DeleteSubject(x.subject, x.query.flag("permanent"), x.query.flag("force")))).numbers


async def list_versions(x: ConfluentExchange) -> object:
    """Version numbers, ascending and paged; `deletedAsNegative` lists soft-deleted ones as numbers below zero."""
    page, negative = x.query.page(), x.query.flag("deletedAsNegative")
    visible = x.query.read_visible()
    versions = await x.registry.ask(ListVersions(x.subject, "all" if negative and visible == "live" else visible))
    hidden = frozenset(versions.deleted) if negative else frozenset()
    return [-number if number in hidden else number for number in versions.numbers][page]


async def register(x: ConfluentExchange) -> object:
    """Registers a schema (idempotent); answers its version, id and guid. `force=true` skips the policy, and the version records that."""
    body = await x.body(DraftBody)
    force = ForceReason(x.registry.call.principal, "force=true") if x.query.flag("force") else None
    normalize, exact = x.query.flag("normalize") or None, x.query.is_exact()
    request = register_of(x.subject, body, normalize=normalize, force=force, exact=exact)
    registered = await x.registry.ask(request)
    usual = "" if x.details else as_posted(request.draft.text)  # our own clients are told what is stored
    version = await try_view(x, registered.version, usual)
    return registered_body(replace(registered, version=version), details=x.details)


async def derive(x: ConfluentExchange) -> object:
    """Registers a copy of this version with tags added and removed, or with other metadata or rules."""
    request = derive_of(x.subject, version_of(x.values[1], x.subject), await x.body(DeriveBody))
    return registered_body(await x.registry.ask(request), details=x.details)


async def get_version(x: ConfluentExchange) -> object:
    """One version, by number, `latest` or -1.

    `findTags` lists the parts of the schema with one of these tags (`*`: any). `alias=false`, which is Treaty's own, reads an alias
    itself and not its target.
    """
    number = version_of(x.values[1], x.subject)
    deleted, exact = x.query.flag("deleted"), x.query.is_exact()
    version = await x.registry.ask(GetVersion(x.subject, number, deleted, x.query.tags(), exact))
    x.hot = number != LATEST
    return await _version_body(x, version)


async def get_text(x: ConfluentExchange) -> object:
    """The text of one version, without JSON around it."""
    number = version_of(x.values[1], x.subject)
    version = await apply_view(x, await x.registry.ask(GetVersion(x.subject, number, x.query.flag("deleted"))))
    x.hot = number != LATEST
    return PlainText(version.text)


async def referenced_by(x: ConfluentExchange) -> object:
    """Ids of schemas that refer to this version, ascending and paged."""
    page = x.query.page()
    referring = await x.registry.ask(
        ReferencedBy(x.subject, version_of(x.values[1], x.subject), x.query.flag("deleted"))
    )
    return referring.ids[page]


async def delete_version(x: ConfluentExchange) -> object:
    """Soft-deletes a version, or with `permanent=true` removes a soft-deleted one for good; answers its number."""
    number = version_of(x.values[1], x.subject)
    request = DeleteVersion(x.subject, number, x.query.flag("permanent"), x.query.is_exact(), x.query.flag("force"))
    return (await x.registry.ask(request)).numbers[0]


async def check(x: ConfluentExchange) -> object:
    """Tests the posted schema against the policy of the subject; nothing is written. `verbose=true` adds the reasons.

    An invalid schema is answered with an error; with `verbose=true` and without details it is answered as incompatible.
    """
    version = version_of(x.values[1], x.subject) if len(x.values) > 1 else None
    draft = draft_of(await x.body(DraftBody))
    verbose = x.query.flag("verbose")
    try:
        checked = await x.registry.ask(Check(x.subject, draft, version, x.query.flag("normalize") or None))
    except InvalidSchema as invalid:
        if not verbose or x.details:
            raise
        checked = CompatibilityResult(compatible=False, messages=(invalid.reason.message,))
    return checked_body(checked, verbose=verbose, details=x.details)


async def _version_body(x: ConfluentExchange, version: VersionFound) -> SchemaBody:
    return qualify_references(
        x, version_body(await apply_view(x, version), details=x.details), subject_of(version.subject).context
    )


NUMBERS = ApiAnswer("Version numbers, ascending", list[int], example=[1, 2])
_AFTER = ApiParameter("after", "Begin after this name; replaces `offset`", example="orders-key")
_REGISTERED = {name: value for name, value in SHOWN.items() if name not in {"subject", "ts", "deleted"}}
_CHECKED = ApiAnswer(
    "Whether the schema is compatible; with `verbose` the reasons, in `messages`",
    CheckedBody,
    example={"is_compatible": False, "messages": ["{errorType:'TYPE_MISMATCH', …}"]},
)
_CHECK = ApiOperation(
    check,
    "compatibility",
    _CHECKED,
    (SUBJECT,),
    (NORMALIZE, flag("verbose", "Add the reasons, in `messages`")),
    DraftBody,
    POSTED,
    (42201, 42209, 42210),
)

ROUTES: Table = {
    "/subjects": {
        "GET": ApiOperation(
            list_subjects,
            "subjects",
            ApiAnswer("Names, sorted", list[str], example=["orders-key", "orders-value"]),
            query=(replace(PREFIX, also=("subject",)), DELETED, ONLY_DELETED, *PAGE, _AFTER),
        )
    },
    "/subjects/{}": {
        "POST": ApiOperation(
            lookup,
            "subjects",
            ONE_VERSION,
            (SUBJECT,),
            (NORMALIZE, FORMAT, QUALIFIED, DELETED),
            DraftBody,
            POSTED,
            (40401, 40403, 42201, 42209, 42210),
        ),
        "DELETE": ApiOperation(
            delete_subject,
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
            list_versions,
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
            register,
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
            find,
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
            get_version,
            "subjects",
            ONE_VERSION,
            (SUBJECT, VERSION),
            (DELETED, TAGS, FORMAT, QUALIFIED, ITSELF),
            errors=(40401, 40402, 42202),
        ),
        "DELETE": ApiOperation(
            delete_version,
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
            derive,
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
        "GET": ApiOperation(
            get_text, "subjects", TEXT, (SUBJECT, VERSION), (DELETED, FORMAT), errors=(40401, 40402, 42202)
        )
    },
    "/subjects/{}/versions/{}/referencedby": {
        "GET": ApiOperation(
            referenced_by,
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
            check,
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
