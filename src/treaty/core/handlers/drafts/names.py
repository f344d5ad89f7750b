"""Names of versions: those that id schemes compute, those that a registration gives, and who is found by one; and names inside a
schema that the config of its subject forbids.
"""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from treaty.core import limits
from treaty.core.command import Command, Decision
from treaty.core.finding import Diagnostic, Finding
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers, refuse
from treaty.core.handlers.versions import StoredVersion, describe_version, no_subject, with_ordinal
from treaty.core.messages.names import SEQUENCE, GetNamedVersion
from treaty.core.messages.registration import SubjectCreation
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import (
    Invalid,
    InvalidSchema,
    InvalidSetting,
    NameTaken,
    NotPermitted,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema import Metadata, Pairs, opaque_bytes
from treaty.core.schema_engine import InvalidText, NameVersion, SchemaEngine, VersionNames
from treaty.core.state.rows import Row, make_row
from treaty.core.state.state_tables import NAME, NAME_BY_VERSION, SUBJECT, VERSION, NameKey, VersionKey
from treaty.core.state.table import Key
from treaty.core.state.values import Name, SubjectValue, Version
from treaty.core.state.view import View


@dataclass(frozen=True, slots=True)
class NewNames:
    """The names that a new version gets: computed ones, which versions may share, and given ones; and the packages of the
    schemes that its subject is created with.
    """

    computed: Pairs = ()
    given: Pairs = ()
    packages: Pairs = ()


# ------------------------------------------------------------------------------------------------- schemes and names


def refuse_bad_schemes(schemes: tuple[str, ...], engine: SchemaEngine, path: str) -> None:
    """Raise `InvalidSetting` for a scheme that no package here has or that is there twice, `TooLarge` for too many; `path` is where the request has them."""
    if len(schemes) > limits.ID_SCHEMES:
        raise TooLarge.of(
            "ID_SCHEMES",
            f"The subject would have {len(schemes)} id schemes",
            path=path,
            new=str(len(schemes)),
            allowed=f"at most {limits.ID_SCHEMES} id schemes",
        )
    installed = (SEQUENCE, *sorted(engine.id_schemes))
    for position, scheme in enumerate(schemes):
        if scheme not in installed or scheme in schemes[:position]:
            repeated = " twice" if scheme in installed else ""
            raise InvalidSetting.of(
                "ID_SCHEME",
                f"A subject can't be created with the id scheme '{_shorten(scheme)}'{repeated}",
                path=path,
                new=_shorten(scheme),
                allowed=f"each once: {', '.join(installed)}",
            )


def refuse_bad_names(names: Pairs, engine: SchemaEngine, *, several: bool = False) -> None:
    """Raise `Invalid` for names that no registration can give, in any state, and `TooLarge` for too many.

    With `several` a scheme may give several: those of a version that was registered again with other names.
    """
    _refuse_many(names)
    for position, (scheme, name) in enumerate(names):
        repeated = (scheme, name) in names[:position] if several else scheme in dict(names[:position])
        computed = scheme == SEQUENCE or scheme in engine.id_schemes
        lengths = 0 < len(scheme) <= limits.SCHEME_LENGTH and 0 < len(name) <= limits.NAME_LENGTH
        if computed or not lengths or not (scheme + name).isprintable() or repeated:
            raise Invalid.of(
                "NAME_COMPUTED" if computed else "NAME_INVALID",
                f"A registration can't give the name '{_shorten(name)}' of the scheme '{_shorten(scheme)}'",
                path=f"/names/{position}",
                version=_shorten(name),
                new=_shorten(name),
                allowed="one name of each scheme that computes none: printable characters, at most "
                f"{limits.SCHEME_LENGTH} of the scheme and {limits.NAME_LENGTH} of the name",
            )


def _refuse_many(names: Collection[tuple[str, str]]) -> None:
    if len(names) > limits.NAMES_PER_VERSION:
        raise TooLarge.of(
            "NAMES_PER_VERSION",
            f"The version would have {len(names)} names",
            path="/names",
            new=str(len(names)),
            allowed=f"at most {limits.NAMES_PER_VERSION} names",
        )


def given_names(view: View, key: VersionKey) -> Pairs:
    """Return the names of a version, (scheme, name), that no scheme of its subject computes."""
    home = view.get(SUBJECT, Subject(key.context, key.subject))
    computed = () if home is None else home.schemes
    pairs = ((name_key.scheme, name_key.name) for name_key in view.find(NAME_BY_VERSION, (*key,)))
    return tuple(sorted(pair for pair in pairs if pair[0] not in computed))


def _shorten(text: str) -> str:
    return text.encode("unicode_escape").decode()[:100]


def packages_of(schemes: tuple[str, ...], engine: SchemaEngine) -> Pairs:
    """Return those of these schemes that come from another package, with its name."""
    packages = ((scheme, engine.id_schemes.get(scheme, "")) for scheme in schemes)
    return tuple(package for package in packages if package[1])


# ------------------------------------------------------------------------------------------------------ a new version


def new_names(subject: Subject, home: SubjectValue | SubjectCreation, new: ParsedDraft, engine: SchemaEngine) -> Pairs:
    """Return the names that the schemes of a subject compute for a new version; `home` is its row, or what it is created with.

    Raises `NotPermitted` where a scheme is not installed here: none is skipped for that.
    """
    schemes = tuple(scheme for scheme in home.schemes if scheme != SEQUENCE)
    if not schemes:
        return ()
    for scheme in schemes:
        if scheme not in engine.id_schemes:
            package = dict(home.packages).get(scheme, "") if isinstance(home, SubjectValue) else ""
            raise _missing_scheme(subject, scheme, package or "that declares it as an entry point of treaty.id_schemes")
    text = new.parsed.canonical
    sent = new.sent or (opaque_bytes(text) if new.opaque else text.encode("utf-8", "surrogatepass"))
    (answer,) = answers(engine, (NameVersion(new.meaning, sent, str(subject), new.type_name, schemes),))
    if isinstance(answer, InvalidText):
        raise refuse(answer, new.draft)
    assert isinstance(answer, VersionNames)
    if home.schemes[0] not in {SEQUENCE, *dict(answer.names)}:
        raise _no_id(subject, home.schemes[0], new.draft.format)
    return answer.names


def _no_id(subject: Subject, scheme: str, format_: str) -> InvalidSchema:
    return InvalidSchema.of(
        "ID_SCHEME_FAILED",
        f"Invalid schema of type {format_}, details: the ids of subject {subject} are of the scheme {scheme}, which has none "
        "for this schema",
        path="/names",
        subject=str(subject),
        old=scheme,
        new=format_,
        allowed="a schema of a format for which the scheme computes ids, or another subject",
    )


def _missing_scheme(subject: Subject, scheme: str, package: str) -> NotPermitted:
    return NotPermitted.of(
        "ID_SCHEME_MISSING",
        f"Subject {subject} names its versions by the id scheme {scheme}, which is not installed on this node",
        path="/names",
        subject=str(subject),
        old=scheme,
        allowed=f"a node with the package {package}",
    )


def name_rows(
    view: View, key: VersionKey, version: Version, names: NewNames, going: Container[Key] = ()
) -> tuple[Row, ...]:
    """Return the rows of the names of a version that is new or lacks them.

    `going` are versions that are removed or hidden in the same commit. Raises `NameTaken` for a given name that another
    version has: one that is live, or that has another schema; `TooLarge` where the version would have too many given ones.
    """
    held = given_names(view, key) if names.given else ()
    if not set(names.given) <= set(held):
        _refuse_many({*held, *names.given})
    given_rows = [_name_row(view, key, version, name, going, is_given=True) for name in names.given]
    computed = [_name_row(view, key, version, name, going, is_given=False) for name in names.computed]
    return tuple(row for row in (*given_rows, *computed) if row is not None)


def _name_row(
    view: View, key: VersionKey, version: Version, pair: tuple[str, str], going: Container[Key], *, is_given: bool
) -> Row | None:
    name = NameKey(*key[:3], *pair)
    stored = view.get(NAME, name)
    holders = [] if stored is None else _holders(view, name, stored)
    if any(holder[0] == key for holder in holders):
        return None
    left = [holder for holder in holders if holder[0] not in going and holder[1].state != "hidden"]
    for other, value in holders if is_given else ():
        gone = pair[0] == SCHEMAVER or value.schema_id == version.schema_id  # a label is free once it is deleted
        if other not in going and (not gone or value.state == "live"):
            raise _name_taken(key, pair, other)
    if len(left) >= limits.VERSIONS_PER_NAME:
        raise TooLarge.of(
            "VERSIONS_PER_NAME",
            f"{len(left)} versions have the name {pair[1][:100]} ({pair[0]}) already",
            path="/names",
            new=pair[1][:100],
            allowed=f"at most {limits.VERSIONS_PER_NAME} versions with one name",
        )
    first, *later = sorted((*(holder[0].ordinal for holder in left), key.ordinal))
    extra = stored.extra if stored is not None and left else ()
    return make_row(NAME, name, Name(first, tuple(later), extra))


def _holders(view: View, name: NameKey, value: Name) -> list[StoredVersion]:
    """The versions that have a name, by ordinal."""
    keys = [VersionKey(*name[:3], ordinal) for ordinal in (value.ordinal, *value.others)]
    rows = ((key, view.get(VERSION, key)) for key in keys)
    return [(key, version) for key, version in rows if version is not None and version.state != "purged"]


def _name_taken(key: VersionKey, pair: tuple[str, str], other: VersionKey) -> NameTaken:
    subject = Subject(key.context, key.subject)
    return NameTaken.of(
        "NAME_TAKEN",
        f"Another version of subject '{subject}' is called {pair[1]} ({pair[0]})",
        path="/names",
        subject=str(subject),
        old=f"ordinal {other.ordinal}",
        new=f"ordinal {key.ordinal}",
        allowed="another name",
    )


# ------------------------------------------------------------------------------------------------------------- look-up


def default_scheme(home: SubjectValue) -> str:
    """Return the scheme of ids without a scheme: the first of a subject, ``sequence`` where it has none."""
    if home.order == SCHEMAVER:
        return SCHEMAVER
    return home.schemes[0] if home.schemes else SEQUENCE


def named_version(view: View, subject: Subject, home: SubjectValue, scheme: str, name: str) -> StoredVersion | None:
    """Return the version with a name: of several the oldest live one, else the oldest; None where there is none."""
    if scheme == SEQUENCE:
        if not (name.isascii() and name.isdecimal()) or name[:1] == "0" or len(name) > len(str(limits.COUNTER)):
            return None
        stored = with_ordinal(view, subject, int(name) - 1)
        return None if stored is None or stored[1].state == "purged" else stored
    key = NameKey(*subject, home.generation, scheme, name)
    value = view.get(NAME, key)
    holders = [] if value is None else _holders(view, key, value)
    return next((holder for holder in holders if holder[1].state == "live"), holders[0] if holders else None)


def get_named_version(view: View, command: Command[GetNamedVersion], engine: SchemaEngine) -> Decision[VersionFound]:
    """Return the version with a name, deleted or not."""
    request = command.request
    home = view.get(SUBJECT, request.subject)
    if home is None:
        raise no_subject(request.subject)
    scheme = request.scheme or default_scheme(home)
    stored = named_version(view, request.subject, home, scheme, request.name)
    if stored is None:
        raise VersionNotFound.of(
            "NAME_NOT_FOUND",
            f"Version {request.name[:100]} ({scheme[:100]}) not found.",
            path="/name",
            subject=str(request.subject),
            version=request.name[:100],
            new=request.name[:100],
            allowed=f"the name of a version of this subject by the scheme {scheme[:100]}",
        )
    return Decision((), describe_version(view, stored, data=True))


# ------------------------------------------------------------------------------------------------ names inside a schema


PROPERTY = "confluent:reserved"
"""The metadata property that lists the reserved names, with commas between them."""

INTERNAL = "$$"
"""What no property of a JSON Schema may begin with where fields are validated: Confluent keeps it for itself."""


def reserved_names(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the names that a schema's metadata reserves, in order."""
    listed = (metadata or Metadata()).get(PROPERTY) or ""
    return tuple(dict.fromkeys(name for name in map(str.strip, listed.split(",")) if name))


def reserved_findings(new: ParsedDraft, latest: Metadata | None) -> tuple[Finding, ...]:
    """Return what breaks the reservations: names of the latest version's that are given up, then names in use."""
    return (*_given_up(new, latest), *_in_use(new))


def _given_up(new: ParsedDraft, latest: Metadata | None) -> Iterator[Finding]:
    names = frozenset(reserved_names(new.draft.metadata))
    for name in reserved_names(latest):
        if name not in names:
            yield Finding(
                "RESERVED_FIELD_REMOVED",
                f"/metadata/properties/{PROPERTY}",
                f"The new schema has reserved field {name} removed from its metadata which is present in the old "
                "schema's metadata.",
                name,
                name,
                remedy="keep the name in the list of reserved ones",
            )


def _in_use(new: ParsedDraft) -> Iterator[Finding]:
    fields = frozenset(new.parsed.fields)
    for name in reserved_names(new.draft.metadata):
        if name in fields:
            yield Finding(
                "RESERVED_FIELD_USED",
                f"/{name}",
                f"The new schema has field that conflicts with the reserved field {name}.",
                name,
                reader=name,
                remedy="another name for the field",
            )


def internal_names(new: ParsedDraft) -> InvalidText | None:
    """Return the faults of a JSON Schema whose properties have names that Confluent keeps for itself, or None."""
    if new.draft.format != "JSON":
        return None
    names = [name for name in new.parsed.fields if name.startswith(INTERNAL)]
    faults = tuple(
        Diagnostic(
            "FIELD_NAME_INTERNAL",
            f"/properties/{name.replace('~', '~0').replace('/', '~1')}",
            f"Field names cannot start with {INTERNAL} prefix",
            "another name, or validateFields=false",
        )
        for name in names
    )
    return InvalidText(faults) if faults else None
