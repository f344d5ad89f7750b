"""Each term of a search holds of what it says, alone and beside any other: of subjects, sources and queries, for everybody and for who may read some."""

import json
import re
from collections import Counter
from collections.abc import Container, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.laws.search_life import bring_up_to_date, new_bench
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.search import SearchTerm, parse_terms
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata
from treaty.core.schema_engine import EntriesFound, FindEntries
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.web.index.contents import TAGS
from treaty.web.index.lookup import FIELDS_SHOWN, IndexFile


@dataclass(frozen=True)
class Entry:
    """What a hit is, in the words of the terms."""

    name: str
    context: str = "."
    kind: str = "subject"
    format: str = ""
    origin: str = "confluent"
    state: str = "live"
    owner: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Types by paths; of a source its columns."""
    tags: frozenset[str] = frozenset()
    doc: str = ""

    @property
    def names(self) -> set[str]:
        """Paths of fields and their last names."""
        return {*self.fields, *(path.rpartition(".")[2] for path in self.fields)}


SUBJECTS = (
    Entry("orders-value", format="AVRO", owner="sales", fields={"id": "int", "note": "string", "total": "long"}, tags=frozenset({"PII"}), doc="Parcel"),
    Entry("orders-key", format="JSON", tags=frozenset({"PII", "Id"}), fields={"id": "integer", "home": "object", "home.zip": "string"}, doc="address"),
    Entry("users", ".team", format="AVRO", origin="avro-1124", fields={"mail": "string", "id": "string", "order": "long"}, tags=frozenset({"Public"}), doc="parcel"),
    Entry("open", ".team", format="JSON", origin="pravega", owner="Sales", fields={f"note{at}": "string" for at in range(FIELDS_SHOWN + 1)}),
    Entry("five", format="JSON", fields={f"note{at}": "string" for at in range(FIELDS_SHOWN)}),
    Entry("gone", format="AVRO", owner="sales", state="deleted", fields={"id": "int", "mail": "long"}, doc="parcel"),
)  # fmt: skip
SOURCES = (
    Entry("Clicks", kind="source", fields={"id": "", "page_note": ""}),
    Entry("orders_seen", kind="query", fields={"ID": "", "total": ""}),
)
SENSITIVE = replace(SUBJECTS[0], name="sealed", owner="")
"""Its owner is sensitive, and sales too: no search knows it."""
COPY = replace(SUBJECTS[0], name="orders-copy")
"""It has the schema of another subject."""
ENTRIES = (*SUBJECTS, SENSITIVE, COPY, *SOURCES)
TERMS = (
    "field:id", "field:note", "field:*note*", "field:home.zip", "field:ZIP", "type:string", "type:INT", "type:long", "tag:pii", "tag:Public",
    "owner:sales", "doc:parcel", "subject:orders", "subject:O", "format:avro", "format:JSON", "context:.", "context:.team", "origin:Confluent", "origin:pravega",
    "state:live", "state:deleted", "kind:subject", "kind:Source", "kind:query", "order", "note", "no", "parcel", "*l*", "ord*e", "field:p*e", "field:ote", "field:not*ote", "field:i*id",
)  # fmt: skip
MINE = Access((AccessRule(("user:a",), with_included(("read",)), ("o*",), (".", ".team"), sources=("clicks",)),))


def as_draft(entry: Entry) -> Draft:
    sensitive = ("owner",) if entry is SENSITIVE else ()
    owner = "sales" if entry is SENSITIVE else entry.owner
    outside = () if entry.format == "JSON" else (("a", tuple(entry.tags)),)
    metadata = Metadata(outside, (("owner", owner),) if owner else (), sensitive)
    if entry.format == "AVRO":
        fields = [{"name": name, "type": kind} for name, kind in entry.fields.items()]
        return Draft(json.dumps({"type": "record", "name": "R", "doc": entry.doc, "fields": fields}), metadata=metadata)
    schema: dict[str, Any] = {"type": "object", "description": entry.doc, TAGS: [*entry.tags], "properties": {}}
    for path, kind in entry.fields.items():
        head, _, last = path.rpartition(".")
        outer = schema["properties"][head].setdefault("properties", {}) if head else schema["properties"]
        outer[last] = {"type": kind}
    return Draft(json.dumps(schema), "JSON", metadata=metadata)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    it, path = new_bench(), tmp_path_factory.mktemp("search") / "index"
    for entry in (*SUBJECTS, SENSITIVE, COPY):
        subject = Subject(entry.context, entry.name)
        it.do(Register(subject, as_draft(entry), create_with=SubjectCreation(origin=entry.origin)))
        if entry.state == "deleted":
            it.do(DeleteSubject(subject))
    generation = 0
    for entry in SOURCES:
        columns = tuple(SourceColumn(name, "STRING") for name in entry.fields)
        query = QueryPlan("SELECT 1", (SourceRead("clicks", generation),)) if entry.kind == "query" else None
        stored = it.do(m.CreateSource(m.SourceDefinition(entry.name, "STREAM", "", columns, query=query)))
        generation = stored.generation
    bring_up_to_date(path, it)
    return path


def fits_pattern(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.lower().split("*"))), name.lower()) is not None


def as_patterns(term: SearchTerm) -> str:
    """The pattern of names of fields for which a term stands."""
    return f"*{term.value}*" if not term.name else term.value


def holds(term: SearchTerm, entry: Entry, types: set[str]) -> bool:
    """Whether a term holds of an entry, beside terms with some types."""
    is_source, value = entry.kind != "subject", term.value.lower()
    if is_source:  # it has nothing but its name and its columns
        is_held = {
            "kind": value == entry.kind,
            "state": value == "live",
            "field": any(fits_pattern(value, column) for column in entry.fields),
            "": any(fits_pattern(f"*{value}*", word) for word in (entry.name, *entry.fields)),
        }
        return is_held.get(term.name, False) and not types
    match term.name:
        case "field":
            kinds = {kind for path, kind in entry.fields.items() for name in (path, path.rpartition(".")[2]) if fits_pattern(value, name)}  # fmt: skip
            return bool(kinds & types if types else kinds)
        case "tag":
            return value in {tag.lower() for tag in entry.tags}
        case "subject":
            return fits_pattern(f"*{value}*", entry.name)
        case "":
            words = (entry.name, *entry.names)
            return any(fits_pattern(f"*{value}*", word) for word in words) or entry.doc.lower() == value
        case _:
            return bool({"owner": entry.owner, "doc": entry.doc, "format": entry.format, "context": entry.context, "origin": entry.origin,
                         "state": entry.state, "kind": entry.kind}[term.name].lower() == value)  # fmt: skip


def expected(text: str, access: Access | None) -> dict[tuple[str, str], tuple[str, ...]]:
    """What fits a search, by kind and name, with the fields that it shows."""
    terms = parse_terms(text)
    types = {term.value.lower() for term in terms if term.name == "type"}
    asked = [as_patterns(term) for term in terms if term.name in {"field", ""}]
    is_of_field = any(term.name == "field" for term in terms)
    shows_deleted = any(term.name == "state" for term in terms)
    hits = {}
    for entry in ENTRIES:
        if access is not None and not _may_read(access, entry):
            continue
        of_types = entry.kind == "subject" and (is_of_field or types <= {*entry.fields.values()})
        fitting = all(holds(term, entry, types) for term in terms if term.name != "type") and (of_types or not types)
        if fitting and (shows_deleted or entry.state == "live"):
            names = {name.lower() for name in entry.names if any(fits_pattern(pattern, name) for pattern in asked)}
            hits[entry.kind, str(Subject(entry.context, entry.name))] = tuple(sorted(names))
    return {key: names if len(names) <= FIELDS_SHOWN or key[0] != "subject" else () for key, names in hits.items()}


def _may_read(access: Access, entry: Entry) -> bool:
    if entry.kind == "subject":
        return access.may("read", Subject(entry.context, entry.name))
    return access.may_source("read", entry.name.lower())


def as_hits(answer: EntriesFound) -> dict[tuple[str, str], tuple[str, ...]]:
    return {(hit.kind, hit.name): tuple(sorted(hit.fields)) for hit in answer.hits}


def count_facets(hits: Container[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """How many of some hits have each value of each facet."""
    facets = Counter[tuple[str, str]]()
    for entry in ENTRIES:
        if (entry.kind, str(Subject(entry.context, entry.name))) in hits:
            facets["kind", entry.kind] += 1
            if entry.kind == "subject":
                facets.update([("format", entry.format), ("context", entry.context), ("origin", entry.origin)])
                facets.update([("tag", tag) for tag in entry.tags] + [("owner", entry.owner)] * bool(entry.owner))
    return dict(facets)


PAIRS = [*map(" ".join, combinations(TERMS, 2))]


@pytest.mark.parametrize(
    ("access", "schemas"), [(None, 1_000), (MINE, 1_000), (None, 0)], ids=["everybody", "some", "schemas-unlisted"]
)
def test_a_search_finds_that_alone_of_which_all_its_terms_hold(
    index: Path, access: Access | None, schemas: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.web.index.plans.FEW_SCHEMAS", schemas)
    of_few = [pair for pair in PAIRS if pair.startswith(("subject:", "context:", "origin:"))]
    pairs = (PAIRS[::2] if access is None else PAIRS[1::4]) if schemas else of_few
    hits = 0
    with closing(IndexFile(index)) as file:
        for text in (*TERMS, *pairs):
            answer, fitting = file.find(FindEntries(parse_terms(text), access)), expected(text, access)
            assert as_hits(answer) == fitting, text
            assert (answer.count, answer.more) == (len(fitting), False), text
            assert {(facet.facet, facet.value): facet.count for facet in answer.facets} == count_facets(fitting), text
            hits += len(fitting)
    assert hits > 80
