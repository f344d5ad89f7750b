"""Schemas as posted to Confluent's API: to be registered, derived, looked up or checked; and members of other APIs, which are refused."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from treaty.core.messages.registration import Derive, ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.names import Subject
from treaty.core.refusals import Invalid
from treaty.core.schema import Draft, refuse_many_references
from treaty.wire.confluent.bodies import (
    Integer,
    MetadataBody,
    ReferenceBody,
    RuleSetBody,
    TagsBody,
    metadata_body,
    metadata_of,
    pairs_of,
    reference_bodies,
    references_of,
    rules_body,
    rules_of,
    tagged_of,
    tags_bodies,
)
from treaty.wire.confluent.policies import PolicyBody, chosen_body, chosen_of


class ForceBody(Struct):
    """Who registers past the policy, and why."""

    who: str = ""
    why: str = ""


class ExpectedBody(Struct):
    """The expected latest version."""

    by: Literal["number", "ordinal", "schema_id"]
    value: int


Refused = Annotated[
    Any, Meta(description="Refused: it follows from the API that is used", extra_json_schema={"not": {}})
]
"""A member that no body may have. It is named here so that the refusal can name it."""


class CreationBody(Struct, omit_defaults=True):
    """How a subject is made where it is not there. The members that are refused follow from the API that is used."""

    origin: Refused | UnsetType = UNSET
    types: Refused | UnsetType = UNSET
    order: Refused | UnsetType = UNSET
    identity: Refused | UnsetType = UNSET
    policy: PolicyBody | str = ""
    properties: dict[str, str] = {}
    schemes: list[str] = []


class RegisterDetails(Struct, omit_defaults=True, rename="camel"):
    """What `Register` can say and Confluent's body can't."""

    force: ForceBody | None = None
    expected: ExpectedBody | None = None
    names: list[tuple[str, str]] = []
    properties: dict[str, str] = {}
    create_with: CreationBody | None = None
    time: int = -1


class DraftBody(Struct, omit_defaults=True, rename="camel"):
    """A schema as posted: to be registered, looked up or checked."""

    version: Integer | None = None
    id: Integer | None = None
    schema_type: str | None = None
    references: list[ReferenceBody | None] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    schema: str | None = None
    schema_tags_to_add: list[TagsBody | None] | None = None
    schema_tags_to_remove: list[TagsBody | None] | None = None
    propagate_schema_tags: bool | None = None
    treaty: RegisterDetails | None = None


class DeriveBody(Struct, omit_defaults=True, rename="camel"):
    """What a new version is to have other than the one that it is made from."""

    new_version: Integer | None = None
    tags_to_add: list[TagsBody | None] | None = None
    tags_to_remove: list[TagsBody | None] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    rules_to_merge: RuleSetBody | None = None
    rules_to_remove: list[str] | None = None


def draft_of(body: DraftBody) -> Draft:
    """Read the schema in a body. Raises `TooLarge` where it has too many references, before anything is made of them."""
    refuse_many_references(len(body.references or ()))
    return Draft(
        text=body.schema or "",
        format=body.schema_type or "AVRO",
        references=references_of(body.references),
        metadata=metadata_of(body.metadata),
        rules=rules_of(body.rule_set),
    )


def draft_body(draft: Draft) -> DraftBody:
    """Print a schema to be posted."""
    return DraftBody(
        schema_type=draft.format,
        references=reference_bodies(draft.references),
        metadata=metadata_body(draft.metadata),
        rule_set=rules_body(draft.rules),
        schema=draft.text,
    )


def register_of(
    subject: Subject, body: DraftBody, *, normalize: bool | None, force: ForceReason | None, exact: bool = False
) -> Register:
    """Read a registration. Raises `Invalid` where the body says what only an API may say of a new subject."""
    more = body.treaty or RegisterDetails()
    return Register(
        subject=subject,
        draft=draft_of(body),
        normalize=normalize,
        number=body.version or 0,
        schema_id=-1 if body.id is None else body.id,
        force=ForceReason(more.force.who, more.force.why) if more.force else force,
        expected=ExpectedVersion(more.expected.by, more.expected.value) if more.expected else None,
        names=tuple(sorted(more.names)),
        properties=pairs_of(dict(more.properties)),
        create_with=_creation_of(more.create_with or CreationBody()),
        time=more.time,
        add_tags=tagged_of(body.schema_tags_to_add),
        remove_tags=tagged_of(body.schema_tags_to_remove),
        propagate_tags=bool(body.propagate_schema_tags),
        exact=exact,
    )


def refuse_members_of_apis(creation: CreationBody | SubjectCreation) -> None:
    """Raise `Invalid` where a client says of a new subject what follows from the API that it uses."""
    for member in ("origin", "types", "order", "identity"):
        sent = getattr(creation, member)
        usual = getattr(SubjectCreation(), member) if isinstance(creation, SubjectCreation) else None
        if sent is not UNSET and sent != usual:
            allowed = "policy, properties and schemes"
            raise Invalid.of(
                "CREATE_WITH",
                f"createWith.{member} follows from the API that is used and can't be sent; allowed: {allowed}",
                path=f"/treaty/createWith/{member}",
                new=str(sent)[:100],
                allowed=allowed,
            )


def _creation_of(body: CreationBody) -> SubjectCreation:
    refuse_members_of_apis(body)
    return SubjectCreation(
        policy=chosen_of(body.policy), properties=pairs_of(dict(body.properties)), schemes=tuple(body.schemes)
    )


def _creation_body(creation: SubjectCreation) -> CreationBody | None:
    """Print how a subject is to be made. What an API sets is printed too: passed over in silence it would be lost."""
    if creation == SubjectCreation():
        return None
    body = CreationBody(
        policy=chosen_body(creation.policy), properties=dict(creation.properties), schemes=list(creation.schemes)
    )
    for member in ("origin", "types", "order", "identity"):
        if getattr(creation, member) != getattr(SubjectCreation(), member):
            setattr(body, member, getattr(creation, member))
    return body


def register_body(request: Register) -> DraftBody:
    """Print a registration."""
    body = draft_body(request.draft)
    body.version = request.number or None
    body.id = None if request.schema_id < 0 else request.schema_id
    body.schema_tags_to_add = tags_bodies(request.add_tags)
    body.schema_tags_to_remove = tags_bodies(request.remove_tags)
    body.propagate_schema_tags = request.propagate_tags or None
    details = RegisterDetails(
        force=ForceBody(request.force.who, request.force.why) if request.force else None,
        expected=ExpectedBody(request.expected.by, request.expected.value) if request.expected else None,
        names=list(request.names),
        properties=dict(request.properties),
        create_with=_creation_body(request.create_with),
        time=request.time,
    )
    body.treaty = details if details != RegisterDetails() else None
    return body


def derive_of(subject: Subject, version: int, body: DeriveBody) -> Derive:
    """Read a derivation; what is null is as if it were absent."""
    return Derive(
        subject=subject,
        version=version,
        number=body.new_version or 0,
        add_tags=tagged_of(body.tags_to_add),
        remove_tags=tagged_of(body.tags_to_remove),
        metadata=metadata_of(body.metadata),
        rules=rules_of(body.rule_set),
        merge_rules=rules_of(body.rules_to_merge),
        remove_rules=tuple(dict.fromkeys(body.rules_to_remove or ())),
    )


def derive_body(request: Derive) -> DeriveBody:
    """Print a derivation."""
    return DeriveBody(
        new_version=request.number or None,
        tags_to_add=tags_bodies(request.add_tags),
        tags_to_remove=tags_bodies(request.remove_tags),
        metadata=metadata_body(request.metadata),
        rule_set=rules_body(request.rules),
        rules_to_merge=rules_body(request.merge_rules),
        rules_to_remove=list(request.remove_rules) or None,
    )
