"""Thrift as a `Format`: what the entry point group ``treaty.formats`` offers under the name THRIFT."""

import re

from treaty.formats.content import skip_comments
from treaty.formats.format import Format
from treaty_thrift.columns import derive_columns
from treaty_thrift.comparison import compare, find_differences
from treaty_thrift.elements import list_elements
from treaty_thrift.example import check_value, generate_example
from treaty_thrift.lints import LINTS
from treaty_thrift.parser import find_position, find_references, parse_schema
from treaty_thrift.printer import md5, print_resolved, print_texts, sha256
from treaty_thrift.rules import RULES
from treaty_thrift.validation import EXPECTED
from treaty_thrift.values import make_encoding
from treaty_thrift.writers import PROTOCOLS

_WORDS = re.compile(r"(namespace|include|cpp_include|typedef|const|struct|union|exception)\s")


def recognize(text: str) -> bool:
    """Whether a text, valid or not, begins as a document of Thrift does."""
    return _WORDS.match(text, skip_comments(text)) is not None


FORMAT = Format(
    name="THRIFT",
    parse=parse_schema,
    show=print_texts,
    references=find_references,
    compare=compare,
    differences=find_differences,
    fingerprints={"MD5": md5, "SHA-256": sha256},
    views={"resolved": print_resolved},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    elements=list_elements,
    example=generate_example,
    suffixes=(".thrift",),
    recognize=recognize,
    locate=find_position,
    finding_form="{errorType:'{rule}', description:'{sentence}', remedy:'{remedy}'}",
    payloads={protocol: make_encoding(protocol) for protocol in PROTOCOLS},
)
