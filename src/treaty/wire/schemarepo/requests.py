"""Names, ids, forms and texts of schema-repo and AVRO-1124 as requests of the registry."""

from collections.abc import Mapping

from treaty.core.limits import COUNTER
from treaty.core.messages.groups import (
    ANY_FORMAT,
    AVRO_1124,
    FORMAT,
    SCHEMA_REPO,
    TEXT_FORMAT,
    CreateSubject,
    GroupFound,
    GroupSettings,
)
from treaty.core.messages.names import SEQUENCE
from treaty.core.messages.registration import ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.policy import LEVELS, Level, split_validators, word_of
from treaty.core.refusals import InvalidSetting, InvalidSubject
from treaty.core.schema import Draft
from treaty.formats.registry import find_formats

RESERVED = "repo."
"""Names of properties that begin so mean something to schema-repo; no others than `VALIDATORS` are known."""
VALIDATORS = "repo.validators"
"""The property with the names of validators, with commas between them."""
FORCED = "force_override"
"""The reason that is stored with a version that `force_override` admitted."""


# ------------------------------------------------------------------------------------------------------------- names


def subject_named(name: str) -> Subject:
    """Return the subject of a name, in the default context: these dialects have no word for others.

    Raises `InvalidSubject` for an empty name, and for a name that is qualified with a context.
    """
    if not name or name.startswith((":.", ":*:")):
        raise InvalidSubject.of(
            "SUBJECT_NAME",
            f"'{name[:100]}' is not the name of a subject here",
            subject=name[:100],
            new=name[:100],
            allowed="a name that is not empty and names no context",
        )
    return Subject(DEFAULT_CONTEXT, name)


def new_subject_named(name: str) -> Subject:
    """Return the subject of a name under which one may be created; raises `InvalidSubject` also for white space in it."""
    subject = subject_named(name)
    if any(char.isspace() for char in name):
        raise InvalidSubject.of(
            "SUBJECT_SPACE",
            f"The name '{name[:100]}' of a subject has white space in it",
            subject=name[:100],
            new=name[:100],
            allowed="a name without white space",
        )
    return subject


def ordinal_of(text: str, first: int = 0) -> int | None:
    """Return the ordinal of an id, which counts from `first`; None for what is no id."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(COUNTER)) or str(int(text)) != text:
        return None
    ordinal = int(text) - first
    return ordinal if 0 <= ordinal <= COUNTER else None


def expected_of(text: str) -> ExpectedVersion | None:
    """Return the latest version that a writer expects, by its id; empty: none. None for what is no id."""
    if not text:
        return ExpectedVersion("ordinal", -1)
    ordinal = ordinal_of(text)
    return None if ordinal is None else ExpectedVersion("ordinal", ordinal)


# ---------------------------------------------------------------------------------------------------------- subjects


def create_subject_of(name: str, form: Mapping[str, str]) -> CreateSubject:
    """Return the request for a subject with this configuration, in which any schema may follow any other.

    Raises `InvalidSetting` for a reserved name that is not known.
    """
    for key in form:
        if key.startswith(RESERVED) and key != VALIDATORS:
            raise InvalidSetting.of(
                "PROPERTY_RESERVED",
                f"The property '{key[:100]}' is reserved",
                path=key[:100],
                new=key[:100],
                allowed=f"{VALIDATORS}, or a name that does not begin with {RESERVED}",
            )
    validators = split_validators(form[VALIDATORS]) if VALIDATORS in form else None
    properties = tuple(sorted((key, value) for key, value in form.items() if key != VALIDATORS))
    policy = Config(level="NONE", validators=validators)
    return CreateSubject(
        new_subject_named(name), GroupSettings(SCHEMA_REPO, identity="exact", policy=policy, properties=properties)
    )


def properties_of(group: GroupFound) -> tuple[tuple[str, str], ...]:
    """Return the configuration of a subject: its properties, and its own validators where it names any, or none."""
    named = group.config.validators
    own = () if named is None else ((VALIDATORS, ",".join(named)),)
    return tuple(sorted((*group.properties, *own)))


# ----------------------------------------------------------------------------------------------------------- schemas


def formats_to_find(group: GroupFound) -> tuple[str, ...]:
    """Return the formats under which a text is looked up, also those that only other dialects register.

    That is the one which the subject names, or that all versions of a subject of another dialect have.
    """
    own = group.origin in {SCHEMA_REPO, AVRO_1124}
    named = dict(group.properties).get(FORMAT, ANY_FORMAT)
    if named == ANY_FORMAT and not own:
        named = group.format
    if named != ANY_FORMAT:
        return (named,)
    return ("AVRO", TEXT_FORMAT) if own else (*find_formats().names, TEXT_FORMAT)


def register_of(subject: Subject, text: str, expected: ExpectedVersion | None = None) -> Register:
    """Return the request that registers a text in a subject that is there; its format follows from the subject."""
    creation = SubjectCreation(origin=SCHEMA_REPO, identity="exact")
    return Register(subject, Draft(text, ANY_FORMAT), expected=expected, create_with=creation, require_subject=True)


# --------------------------------------------------------------------------------------------------------- AVRO-1124


def model_of(word: str) -> Config:
    """Return the policy that a compatibility model names: a level in any letter case, else a named policy."""
    level = word.upper()
    return Config(level=level) if level in LEVELS else Config(follows=word)


def model_word(config: Config, level: Level) -> str:
    """Return the compatibility model of a group: the name of the policy that it follows, else the word of its level."""
    return config.follows or word_of(level)


def unknown_model(word: str) -> InvalidSetting:
    """Return the refusal of a compatibility model that is no level and no named policy."""
    return InvalidSetting.of(
        "COMPATIBILITY_MODEL",
        f"There is no compatibility model '{word[:100]}'",
        path="compatibility_model",
        new=word[:100],
        allowed=f"{', '.join(LEVELS)}, or the name of a policy",
    )


def force_of(word: str) -> ForceReason | None:
    """Return the reason of a registration without a check; raises `InvalidSetting` for what is not true or false."""
    flag = word.strip().lower()
    if flag not in {"", "true", "false"}:
        raise InvalidSetting.of(
            "FORCE_OVERRIDE",
            f"force_override can't be '{word[:100]}'",
            path="force_override",
            new=word[:100],
            allowed="true, false",
        )
    return ForceReason("", FORCED) if flag == "true" else None


def group_creation(model: Config | None, scheme: str = "") -> SubjectCreation:
    """Return the settings of a group that its first registration creates; without a model no schema is compared, and
    without a scheme its schemas are counted.
    """
    return SubjectCreation(
        origin=AVRO_1124,
        identity="exact",
        policy=model or Config(level="NONE"),
        properties=((FORMAT, "AVRO"),),
        schemes=(scheme or SEQUENCE,),
    )


def id_scheme_of(group: GroupFound) -> str:
    """Return the scheme by which schemas of a group have their ids."""
    return group.schemes[0] if group.schemes else SEQUENCE


def id_of(version: VersionFound, scheme: str) -> str:
    """Return the id of a schema by a scheme; empty where it has none."""
    return str(version.ordinal + 1) if scheme == SEQUENCE else dict(version.names).get(scheme, "")


def refuse_other_scheme(group: GroupFound, word: str) -> None:
    """Raise `InvalidSetting` for a scheme that is not the one of the group: its ids would be taken for others."""
    group_scheme = id_scheme_of(group)
    if word not in {"", group_scheme}:
        raise InvalidSetting.of(
            "ID_SCHEME",
            f"The ids of group '{group.subject}' are of the scheme {group_scheme}, which was set when it was created",
            path="id_scheme",
            old=group_scheme,
            new=word[:100],
            allowed=group_scheme,
        )
