"""JSON Schema as a `Format`: the record of functions that the rest of the house knows."""

from treaty.formats.format import Format, TagSupport
from treaty.formats.jsonschema.canonical import pravega, print_resolved, print_texts, sha256
from treaty.formats.jsonschema.compare.compatibility import compare, differences
from treaty.formats.jsonschema.compare.rules.table import RULES
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.data.example import generate_example
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.lint.rows import LINTS
from treaty.formats.jsonschema.logical.reading import logical_view
from treaty.formats.jsonschema.logical.writing import written
from treaty.formats.jsonschema.parse import parse, references
from treaty.formats.jsonschema.tags.reading import entities
from treaty.formats.jsonschema.tags.writing import write
from treaty.formats.jsonschema.validity import EXPECTED

FORMAT = Format(
    name="JSON",
    parse=parse,
    show=print_texts,
    references=references,
    compare=compare,
    differences=differences,
    fingerprints={"SHA-256": sha256, "PRAVEGA": pravega},
    views={"resolved": print_resolved, "logical": logical_view},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".schema.json", ".jsonschema", ".json"),
    tagging=TagSupport(entities, write),
    from_logical=written,
)
