"""`EncodeOptions` and `DeriveOptions`: what a caller asks of an encode plan beyond its subject."""

from dataclasses import dataclass
from typing import Literal

from treaty.core.messages.encodings import NO_CODEC
from treaty.core.messages.request import LATEST

Part = Literal["key", "value"]
Framed = Literal["prefix", "header", "pravega", "version", "md5", "single-object"]


@dataclass(frozen=True, slots=True)
class DeriveOptions:
    """A schema is made from the frame's columns: the latest version where it holds them, grown where it does not.

    `schema_type` and `name` (of the record or message) are those of the latest version if they are empty; of a new
    subject Avro and the subject's name. `open_content`: objects of JSON take members without a name; `draft` is 2020 or
    7. With `wrappers` a new scalar of Protobuf that may be null is a message of google/protobuf/wrappers.proto, without
    them an `optional` field.
    """

    schema_type: str = ""
    name: str = ""
    open_content: bool = False
    draft: Literal[2020, 7] = 2020
    wrappers: bool = False


DERIVED = DeriveOptions()


@dataclass(frozen=True, slots=True)
class EncodeOptions:
    """Which schema: a `version` of the subject, a text (`schema`, of `schema_type` or the subject's), or one that is
    derived.

    A text or derived schema is made a version where `register` says so, else it must be one. `framing` is ``prefix``,
    ``header``, ``version``, ``md5``, ``single-object``, or ``pravega``: then the subject is a group, and `codec` packs
    payloads. `part` the half of a record, `message` a Protobuf message (default: the file's first). With `validate`
    JSON payloads are validated by their schema. `encoding` is how values of a plug-in's format become payloads, where it has
    several ways. `lossy` has the paths of values that may lose digits or a part of a
    time (``/price``, ``/lines/[]/at``, ``/by/{}``); everywhere else a row that would lose something is bad.
    """

    version: int = LATEST
    schema: str = ""
    schema_type: str = ""
    derive: DeriveOptions | None = None
    register: bool = False
    framing: Framed = "prefix"
    codec: str = NO_CODEC
    part: Part = "value"
    message: str = ""
    validate: bool = False
    lossy: tuple[str, ...] = ()
    encoding: str = ""


ENCODE_DEFAULTS = EncodeOptions()
