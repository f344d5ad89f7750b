"""Protobuf as a `Format`: the record of functions that the rest of the house knows."""

from treaty.formats.format import Format, TagSupport
from treaty.formats.protobuf.columns import derive_columns
from treaty.formats.protobuf.compare.comparison import compare, differences
from treaty.formats.protobuf.compare.rules.table import RULES
from treaty.formats.protobuf.example import generate_example
from treaty.formats.protobuf.linking.rules import EXPECTED
from treaty.formats.protobuf.lints import LINTS
from treaty.formats.protobuf.logical.reading import logical_view
from treaty.formats.protobuf.logical.writing import written
from treaty.formats.protobuf.parse import parse, references
from treaty.formats.protobuf.tags.reading import entities
from treaty.formats.protobuf.tags.writing import write
from treaty.formats.protobuf.value import check_value
from treaty.formats.protobuf.views import plain_view, pravega, print_texts, resolved_view, serialized_view, sha256

FORMAT = Format(
    name="PROTOBUF",
    parse=parse,
    show=print_texts,
    references=references,
    compare=compare,
    differences=differences,
    fingerprints={"SHA-256": sha256, "PRAVEGA": pravega},
    views={
        "resolved": resolved_view,
        "serialized": serialized_view,
        "ignore_extensions": plain_view,
        "logical": logical_view,
    },
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".proto",),
    tagging=TagSupport(entities, write),
    from_logical=written,
)
