"""`DecodeOptions`: what a caller asks of a plan beyond its reader, and `DecodeChoices`, the same as arguments."""

from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """What a caller asks of a plan beyond its reader.

    - `depth`: levels to which a recursive reader is opened.
    - `lossy`: what Avro's values may lose. ``refuse``: nothing. Of a `long` beside `float` or `double` in a union of versions the
      later version has no part in the union, and a time with digits that the reader's unit has not (nanoseconds read as microseconds)
      is a bad row. ``double``: the `long` is a double, and numbers beyond 53 bits are rounded. ``allow``: so are they, and times are cut.
    - `message`: the Protobuf message to read, by its full name; the first of the file without one.
    - `defaults`: Protobuf fields that know that they are not set have their default then, and not null.
    - `unknown`: Protobuf fields that the message does not have are kept, in a column `MAP<INT, BINARY>`: by number,
      their bytes with their tags.
    - `validate`: JSON documents are checked by the schema that they were written with; those that are not valid are bad.
    - `rest`: members of a JSON document that have no column are kept in a column of their own: ``map`` is
      `MAP<STRING, STRING>` with JSON texts, ``variant`` a VARIANT (on Spark only).
    - `encoding`: how values were written, where the format of a plug-in has several ways; its usual one without a name.
    """

    depth: int = 3
    lossy: str = "refuse"
    message: str = ""
    defaults: bool = False
    unknown: bool = False
    validate: bool = False
    rest: str = ""
    encoding: str = ""


class DecodeChoices(TypedDict, total=False):
    """The fields of a `DecodeOptions` as arguments."""

    depth: int
    lossy: str
    message: str
    defaults: bool
    unknown: bool
    validate: bool
    rest: str
    encoding: str
