"""Names of versions: which a version gets by the schemes of its subject and by its registration."""

import hashlib
from collections.abc import Collection

from tests.simulation.judging.model.drafts import Home, ReadDraft, no_schema
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.texts import SCHEMES, answer
from treaty.core import limits
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, InvalidSchema, NameTaken, TooLarge
from treaty.core.schema import Pairs
from treaty.core.schema_engine import InvalidText, NameVersion, VersionNames


def refuse_bad_names(names: Pairs, *, several: bool = False) -> None:
    """Nobody names a version by a scheme that computes its names; a registration names none twice by one scheme."""
    refuse_many(names)
    seen: set[object] = set()
    for scheme, name in names:
        if scheme in {"sequence", *SCHEMES}:
            raise No(Invalid, "NAME_COMPUTED")
        if (
            not scheme
            or not name
            or not scheme.isprintable()
            or not name.isprintable()
            or seen & {scheme, (scheme, name)}
        ):
            raise No(Invalid, "NAME_INVALID")
        seen.add((scheme, name) if several else scheme)


def refuse_many(names: Collection[tuple[str, str]]) -> None:
    """All names that a version was ever given count together."""
    if len(names) > limits.NAMES_PER_VERSION:
        raise No(TooLarge, "NAMES_PER_VERSION")


def computed_names(home: Home, subject: Subject, ordinal: int, new: ReadDraft) -> Pairs:
    """MD5 without white space is worked out here; what a fingerprint covers the formats say."""
    found = []
    others = tuple(one for one in home.schemes if one not in {"sequence", "md5"})
    for scheme in home.schemes:
        if scheme == "sequence":
            found.append((scheme, str(ordinal + 1)))
        if scheme == "md5":
            found.append((scheme, hashlib.md5(b"".join(new.sent.split()), usedforsecurity=False).hexdigest()))
    if others:
        told = answer(NameVersion(new.meaning, new.sent, str(subject), new.type_name, others))
        if isinstance(told, InvalidText):
            raise no_schema(told)
        assert isinstance(told, VersionNames)
        found += told.names
    if home.schemes and home.schemes[0] not in dict(found):
        raise No(InvalidSchema, "ID_SCHEME_FAILED", old=home.schemes[0])
    return tuple(found)


def refuse_taken(
    past: Past, subject: Subject, ordinal: int, names: Pairs, schema_id: int, going: list[VersionNow]
) -> None:
    """A name that is given belongs to one live version, and to versions of one schema."""
    for one in past.of(subject):
        if one in going or one.ordinal == ordinal or not set(names) & set(one.names):
            continue
        labels_alone = all(scheme == "schemaver" for scheme, _ in set(names) & set(one.names))
        if one.state == "live" or (one.schema_id != schema_id and not labels_alone):
            raise No(NameTaken, "NAME_TAKEN", subject=str(subject))
