"""Which versions of a subject are the same, and which type a version has: what the settings of its subject say.

The identity of a subject: ``canonical`` (equal canonical text, references, metadata and rules), ``normalised`` (the same
of the text in its normal form), ``exact`` (equal bytes too). Two versions of different formats or types are never the
same; one schema may be versions of several types.
"""

from collections.abc import Iterator
from dataclasses import replace

from treaty.core.answers import Config
from treaty.core.handlers.settings import policy_of
from treaty.core.handlers.versions import StoredVersion, latest_version
from treaty.core.limits import NAME_LENGTH
from treaty.core.names import Subject
from treaty.core.policy import BY_TYPE
from treaty.core.refusals import InvalidSchema, TooLarge, TypeNotAllowed
from treaty.core.requests import SubjectCreation
from treaty.core.schema import CODED, Draft, needs_coding, opaque_bytes, opaque_text
from treaty.core.schema_engine import ParsedSchema, SchemaEngine
from treaty.core.state.state_tables import SUBJECT, VERSION, VERSION_BY_IDENTITY
from treaty.core.state.values import PolicyValue, SubjectValue
from treaty.core.state.view import View
from treaty.light_dataclass import dataclass

CANONICAL, NORMALISED, EXACT = "canonical", "normalised", "exact"
"""Identities of subjects."""


@dataclass(frozen=True, slots=True)
class VersionRules:
    """What a subject says of its versions."""

    types: str = "across"
    identity: str = "canonical"
    only_type: str | None = None
    """The type of all live versions of a subject with one type; None without a live version."""


def version_rules(view: View, subject: Subject, home: SubjectValue | SubjectCreation | None = None) -> VersionRules:
    """Return the rules of a subject; `home` is its row, which is read where it is not given, or what it is created with."""
    home = home or view.get(SUBJECT, subject)
    if home is None:
        return VersionRules()
    latest = latest_version(view, subject) if home.types == "one" else None
    return VersionRules(home.types, home.identity, None if latest is None else latest[1].type_name)


def policy_for(config: Config, rules: VersionRules) -> PolicyValue:
    """Return the policy in force: in a subject with many types versions are compared within their format and type."""
    policy = policy_of(config)
    return replace(policy, partition=BY_TYPE) if rules.types == "many" else policy


# ------------------------------------------------------------------------------------------------------------ types


def type_in(rules: VersionRules, draft: Draft, parsed: ParsedSchema) -> str:
    """Return the type of a draft in its subject: the one that it says, else the only type of the subject if the text can
    be of it, else the parsed name.

    Raises `InvalidSchema` where the text does not contain the type that it says, `TooLarge` for a long one.
    """
    contained = parsed.type_names
    if not draft.type_name:
        only = rules.only_type or ""
        return only if only and (not contained or only in contained) else parsed.type_name
    if len(draft.type_name) > NAME_LENGTH:
        raise TooLarge.of(
            "NAME_LENGTH",
            "The name of the type is too long",
            path="/type",
            new=f"{len(draft.type_name)} characters",
            allowed=f"at most {NAME_LENGTH} characters",
        )
    if contained and draft.type_name not in contained:
        raise InvalidSchema.of(
            "TYPE_MISSING",
            f"Invalid schema of type {draft.format}, details: it does not define {draft.type_name}",
            path="/type",
            old=", ".join(contained)[:1_000],
            new=draft.type_name,
            allowed=", ".join(contained)[:1_000],
        )
    return draft.type_name


def type_not_allowed(subject: Subject, rules: VersionRules, type_name: str) -> TypeNotAllowed | None:
    """Return the refusal of a type that is not the only one of the subject; None for an allowed type."""
    if rules.only_type is None or type_name == rules.only_type:
        return None
    return TypeNotAllowed.of(
        "TYPE_NOT_ALLOWED",
        f"Subject '{subject}' has versions of one type, {rules.only_type or 'without a name'}, and the schema is of another",
        path="/type",
        subject=str(subject),
        old=rules.only_type,
        new=type_name,
        allowed=f"the type {rules.only_type or 'without a name'}, or another subject",
    )


# --------------------------------------------------------------------------------------------------------- identity


def with_identity(view: View, subject: Subject, digest: str, states: tuple[str, ...]) -> Iterator[StoredVersion]:
    """Return the versions of a subject with a normal form and one of these states, by ordinal."""
    keys = view.find(VERSION_BY_IDENTITY, (subject.context, digest), subject)
    rows = ((key, view.get(VERSION, key)) for key in keys)
    return ((key, value) for key, value in rows if value is not None and value.state in states)


# ---------------------------------------------------------------------------------------------------- opaque content


def is_opaque(draft: Draft, engine: SchemaEngine) -> bool:
    """Return whether there is no plug-in for the format of a draft, so that only its bytes are known."""
    return draft.format not in engine.formats


def with_text(draft: Draft, engine: SchemaEngine) -> Draft:
    """Return an opaque draft with the text that stands for its bytes; any other draft as it is.

    Raises `InvalidSchema` for a text that begins as one in base64 and is none.
    """
    if not is_opaque(draft, engine):
        return draft
    if draft.data is not None:
        return replace(draft, text=opaque_text(draft.data), data=None)
    is_coded = draft.text.startswith(CODED)
    if not is_coded and needs_coding(draft.text):
        return replace(draft, text=opaque_text(opaque_bytes(draft.text)))
    if is_coded and opaque_text(opaque_bytes(draft.text)) != draft.text:
        raise InvalidSchema.of(
            "OPAQUE_CODING",
            f"Invalid schema of type {draft.format}, details: what follows {CODED} is not base64 of bytes that need it",
            path="/schema",
            new=draft.text[:100],
            allowed="the bytes as they are",
        )
    return draft
