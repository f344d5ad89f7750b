"""Which release of Treaty builds segments, and what its indexes are like: what another one built is left aside."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from treaty.core import values
from treaty.core.names import Subject
from treaty.core.rows import ROW_FORMAT, Encoded, Row, decode_row, encode_row
from treaty.core.state_tables import ORDERS, ids_key, types_key
from treaty.core.view import count_group, index_entries
from treaty.node.segment.forms import read_row
from treaty.node.segment.marks import hash_of


def _release() -> str:
    try:
        return version("treaty")
    except PackageNotFoundError:  # sources that were never installed
        return "0"


RELEASE = _release()
"""The version of the package: a newer one may find rows by other entries."""
_SUBJECT = Subject(".", "s")
SAMPLES = tuple(decode_row(encode_row(row)) for row in (
    Row("schema", (".x", 7), values.Schema("g", "TOY", "é\n", "l", (values.StoredReference("n", ":.y:s", 3, 9),), type_name="t")),
    Row("schema", (".", 1), values.Schema("g", "TOY", "", "l", (values.StoredReference("n", "s", 3, 9),))),
    *(Row("version", (*_SUBJECT, 1, 4), values.Version(5, 7, "TOY", state=state, content="c", policy=values.PolicyValue()))
      for state in ("live", "soft", "hidden", "purged")),
    Row("version", (*_SUBJECT, 1, 5), values.Version(6, 8, "TOY")),
    Row("name", (*_SUBJECT, 1, "md5", "n"), values.Name(4)),
    Row("encoding", (*_SUBJECT, 2), values.Encoding(7, 1, 4)),
    Row("subject", (*_SUBJECT,), values.SubjectValue(1)),
    Row("subject", (".x", "s"), values.SubjectValue(1)),
    Row("counter", ids_key("."), values.Counter(9)),
    Row("counter", types_key(_SUBJECT, 1, "TOY", ""), values.Counter(3)),
    Row("association", ("r", "topic", "s"), values.Association(":.x:s", "r", "ns", "k", guid="g")),
    Row("association", ("r", "topic", "t"), values.Association("t", "r", "-", "k", lifecycle="STRONG")),
    Row("config", ("subject", *_SUBJECT), values.ConfigValue(alias="a")),
    Row("outcome", ("", "c"), values.Outcome(3, "registered")),
))  # fmt: skip
"""A row for every index, and for what its entries depend on."""


def _told() -> Iterator[str]:
    """Everything by which rows are kept and found, for some of them."""
    yield repr(sorted(ORDERS))
    for row in SAMPLES:
        encoded: Encoded = encode_row(row)
        yield repr((ROW_FORMAT, encoded, read_row(encoded)[1], hash_of(row.key)))
        yield repr([(name, (*entry,), hash_of(entry)) for name, entry in index_entries(row)])
        yield repr(count_group(row))


LEVEL = hashlib.sha256("\n".join(_told()).encode()).hexdigest()[:16]
"""Tells two states of the sources apart that have one version: what their indexes say of the samples."""
KIND = int.from_bytes(hashlib.sha256(f"{RELEASE} {LEVEL}".encode()).digest()[:8], "big")
"""The same as a number, by which a log that keeps state files for several releases tells them apart."""
