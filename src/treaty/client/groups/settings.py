"""Settings say what a group's serializers and deserializers do when they are made, and how they write and read (Pravega, SerializerConfig)."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from treaty.client.groups.codecs import PayloadCodec
from treaty.client.suggestions import suggest
from treaty.core.messages.encodings import NO_CODEC
from treaty.core.messages.groups import ANY_FORMAT, FORMAT, GroupSettings
from treaty.core.messages.settings import Config
from treaty.core.policy import BY_TYPE, LEVELS, PRAVEGA_LEVELS, TILL_POLICIES, Level
from treaty.core.schema import Pairs
from treaty.wire.pravega.formats import PARSED, custom_format
from treaty.wire.pravega.groups import ORIGIN
from treaty.wire.pravega.policies import RENAMED


@dataclass(frozen=True, slots=True)
class GroupWriterSettings:
    """What a serializer of a group does when it is made, and how it writes."""

    create: GroupSettings | None = None
    """Create the group with these settings, unless it exists; None: it must exist."""
    register_schema: bool = False
    """Register the schemas; else they must be versions of the group."""
    register_codec: bool = False
    """Add the codec to the group; else the group must have it."""
    codec: PayloadCodec | str = NO_CODEC
    """A codec, or the name of one: ``gzip``, ``snappy``, or that of an installed package."""
    header: bool = True
    """Write the encoding id before each payload. Without it readers must know schema and codec themselves."""
    check: bool = True
    """Validate each value first, as `SerializerSettings` does."""
    lossy: bool = False
    """Truncate times to the unit of their types, as `SerializerSettings` does."""
    encoding: str = ""
    """How values of plug-in formats become payloads, one of `Format.payloads`; "": the usual one."""


@dataclass(frozen=True, slots=True)
class GroupReaderSettings:
    """What a deserializer of a group does when it is made, and how it reads."""

    create: GroupSettings | None = None
    """Create the group with these settings, unless it exists; None: it must exist."""
    decoders: tuple[PayloadCodec, ...] = ()
    """Further codecs, beside Pravega's and those of installed packages."""
    fail_on_codec_mismatch: bool = True
    """Refuse to start where the group has a codec that this deserializer lacks; else it warns."""
    check_reading: bool = True
    """Refuse to start where the deserializer's own schemas cannot read what the group's policy lets writers write."""
    header: bool = True
    """Read the encoding id before each payload; without it all payloads are of the one given type."""
    generic: bool = False
    """Read types that were not given as values without a class; else they are bad records."""
    as_json: bool = False
    """Return each value as JSON text."""
    check: bool = False
    """Validate each value against its writer's schema (JSON)."""
    encoding: str = ""
    """How payloads of plug-in formats were written, one of `Format.payloads`; "": the usual one."""


def pravega_group(
    format_: str = ANY_FORMAT, level: Level | str = "NONE", *, many_types: bool = False, properties: Pairs = ()
) -> GroupSettings:
    """Return settings of a new group as Pravega's clients create them: its format (``AVRO``, ``JSON``, ``PROTOBUF``,
    ``any``, in any letter case, or the name of a custom one), its policy, and whether it takes several types.

    The policy has a name of Pravega (``Backward``, ``AllowAny``, ``DenyAll`` …) or of Confluent (``BACKWARD``), or is a `Level`. Raises
    `ValueError` for any other word, and for policies that begin at a version, which a new group does not have.
    """
    exact = _find_level(level) if isinstance(level, str) else level
    formats = {word.upper(): word for word in (*PARSED.values(), ANY_FORMAT)}
    word, original = (formats[format_.upper()], ()) if format_.upper() in formats else custom_format(format_)
    if word not in formats.values():
        warn_of_slip(format_, formats.values())
    return GroupSettings(
        ORIGIN,
        types="many" if many_types else "one",
        identity="normalised",
        policy=Config(exact_level=exact, partition=BY_TYPE),
        properties=tuple(sorted((*properties, *original, (FORMAT, word)))),
    )


def warn_of_slip(format_: str, formats: Iterable[str]) -> None:
    """Warn of a custom format whose name looks like one of the known."""
    if hint := suggest(format_, formats):
        warnings.warn(f"{format_[:100]!r} is a custom format, whose schemas are not compared; {hint}", stacklevel=3)


def _find_level(word: str) -> Level:
    levels = {**PRAVEGA_LEVELS, **LEVELS}
    if word in levels:
        return levels[word]
    if word in TILL_POLICIES:
        raise ValueError(f"{word} begins at a version, and a new group has none: give a `Level` with the range")
    hint = f"its name is {RENAMED[word]} today" if word in RENAMED else suggest(word, levels)
    names = f"there are {', '.join(PRAVEGA_LEVELS)}; {', '.join(LEVELS)}; or give a `Level`"
    raise ValueError(
        f"{word[:100]!r} is no policy; {f'{hint} ' if hint.endswith('?') else f'{hint}; ' if hint else ''}{names}"
    )
