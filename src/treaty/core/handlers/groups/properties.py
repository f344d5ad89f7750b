"""Settings and properties of a subject: what they may be, and the format that a subject is limited to."""

from treaty.core import limits
from treaty.core.handlers.drafts.names import refuse_bad_schemes
from treaty.core.handlers.versions import newest_first
from treaty.core.messages.groups import ANY_FORMAT, FORMAT, GroupSettings
from treaty.core.messages.registration import SubjectCreation
from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, InvalidSetting, TooLarge
from treaty.core.schema import Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View

RESERVED = "treaty."
"""Names of properties that begin so mean something to the registry; no others than `FORMAT` are known."""
TYPES = ("across", "one", "many")
ORDERS = ("registration", "schemaver")
IDENTITIES = ("canonical", "normalised", "exact")
LABEL_POLICIES = ("warn", "refuse")


def refuse_bad_settings(
    settings: GroupSettings | SubjectCreation, engine: SchemaEngine, path: str = "/settings"
) -> None:
    """Raise `InvalidSetting` for a setting of a new subject that no subject has, or a property that can't be; `path` is the
    path of the settings.
    """
    words = (("types", TYPES), ("order", ORDERS), ("identity", IDENTITIES))
    for member, allowed in words:
        word: str = getattr(settings, member)
        if word not in allowed:
            raise InvalidSetting.of(
                "SUBJECT_SETTING",
                f"A subject can't be created with {member} '{word[:100]}'",
                path=f"{path}/{member}",
                new=word[:100],
                allowed=", ".join(allowed),
            )
    origin = settings.origin
    if not origin or not origin.isprintable() or len(origin) > limits.ORIGIN_LENGTH:
        raise InvalidSetting.of(
            "SUBJECT_ORIGIN",
            f"The origin of a subject can't be '{_shorten(origin)}'",
            path=f"{path}/origin",
            new=_shorten(origin),
            allowed=f"1 to {limits.ORIGIN_LENGTH} printable characters",
        )
    refuse_bad_properties(settings.properties, f"{path}/properties")
    refuse_bad_schemes(settings.schemes, engine, f"{path}/schemes")


def refuse_bad_label_policy(subject: Subject, word: str | None) -> None:
    """Raise `InvalidSetting` for a policy of labels that there is not."""
    if word is not None and word not in LABEL_POLICIES:
        raise InvalidSetting.of(
            "LABEL_POLICY",
            f"There is no policy of labels '{word[:100]}'",
            path="/labelPolicy",
            subject=str(subject),
            new=word[:100],
            allowed=", ".join(LABEL_POLICIES),
        )


def refuse_bad_properties(properties: Pairs, path: str) -> None:
    """Raise `InvalidSetting` for properties that no subject may have, and `TooLarge` for too many or too long ones."""
    if len(properties) > limits.GROUP_PROPERTIES:
        raise TooLarge.of(
            "GROUP_PROPERTIES",
            f"The subject would have {len(properties)} properties",
            path=path,
            new=str(len(properties)),
            allowed=f"at most {limits.GROUP_PROPERTIES} properties",
        )
    characters = sum(len(name) + len(value) for name, value in properties)
    if characters > limits.GROUP_PROPERTY_CHARACTERS:
        raise TooLarge.of(
            "GROUP_PROPERTY_CHARACTERS",
            "The properties of the subject are too long",
            path=path,
            new=f"{characters} characters",
            allowed=f"at most {limits.GROUP_PROPERTY_CHARACTERS} characters",
        )
    names: set[str] = set()
    for name, value in properties:
        if name in names:
            raise InvalidSetting.of(
                "PROPERTY_TWICE",
                f"The subject would have two properties with the name '{_shorten(name)}'",
                path=path,
                new=_shorten(name),
                allowed="each name once",
            )
        names.add(name)
        if name == FORMAT:
            _refuse_bad_format(value, path)
        elif name.startswith(RESERVED):
            raise InvalidSetting.of(
                "PROPERTY_RESERVED",
                f"The name '{_shorten(name)}' is reserved: no such property of a subject is known",
                path=path,
                new=_shorten(name),
                allowed=f"{FORMAT}, or a name that does not begin with {RESERVED}",
            )


def _refuse_bad_format(word: str, path: str) -> None:
    if word == ANY_FORMAT or _is_format(word):
        return
    raise InvalidSetting.of(
        "PROPERTY_FORMAT",
        f"There is no format '{_shorten(word)}'",
        path=f"{path}/{FORMAT}",
        new=_shorten(word),
        allowed=f"AVRO, JSON, PROTOBUF, another word in capitals, or {ANY_FORMAT}",
    )


def _is_format(word: str) -> bool:
    """Return whether a word is in capitals, as names of formats are: without spaces and colons."""
    is_word = word.isprintable() and not any(char in " :" for char in word)
    return is_word and word == word.upper() and word[:1].isalpha() and len(word) <= limits.NAME_LENGTH


def _shorten(text: str) -> str:
    return text.encode("unicode_escape").decode()[:100]


# ----------------------------------------------------------------------------------------- the format of a subject


def named_format(properties: Pairs) -> str:
    """Return the format that properties limit a subject to, or `ANY_FORMAT`."""
    return dict(properties).get(FORMAT, ANY_FORMAT)


def refuse_other_format(subject: Subject, format_: str, properties: Pairs) -> None:
    """Raise `FormatNotAllowed` for a schema whose format is not the one that its subject is limited to by its properties."""
    allowed = named_format(properties) if properties else ANY_FORMAT
    if allowed not in {ANY_FORMAT, format_}:
        raise FormatNotAllowed.of(
            "SUBJECT_FORMAT",
            f"Subject '{subject}' takes schemas of the format {allowed} only, not {format_[:100]}",
            path="/schemaType",
            subject=str(subject),
            old=allowed,
            new=format_[:100],
            allowed=f"a schema of the format {allowed}, or another subject",
        )


def refuse_format_in_use(view: View, subject: Subject, properties: Pairs) -> None:
    """Raise `FormatNotAllowed` where properties limit a subject to a format that one of its live versions has not."""
    format_ = named_format(properties)
    if format_ == ANY_FORMAT:
        return
    for key, version in newest_first(view, subject):
        if version.format != format_:
            raise FormatNotAllowed.of(
                "FORMAT_IN_USE",
                f"Subject '{subject}' can't be limited to the format {format_[:100]}: its version {version.number} is of "
                f"the format {version.format}",
                path=f"/properties/{FORMAT}",
                subject=str(subject),
                version=str(version.number),
                old=f"{version.format} (ordinal {key.ordinal})",
                new=format_[:100],
                allowed=f"delete versions of other formats first, or {ANY_FORMAT}",
            )
