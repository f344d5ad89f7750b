"""Small parts of pages: what a source is bound to, cut graphs, references in a form, narrower searches, how a source is run."""

from dataclasses import replace

import pytest

from tests.pages.test_page_values import ORDER, ORDERS, request_for, tell, values_of
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.query_feed import FedQuery
from treaty.core.messages.registration import Register
from treaty.core.messages.search import FacetCount
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.names import Subject, subject_of
from treaty.core.registry import AsyncRegistry
from treaty.core.schema import Draft, Reference
from treaty.core.sources import SourceColumn, SourcePart
from treaty.web.pages import graph
from treaty.web.pages.search import group_facets
from treaty.web.pages.sources import list_states, show_source
from treaty.web.pages.trial import print_references, read_reference

TEXTS = ('"int"', ORDER, '"string"')


async def fill(registry: AsyncRegistry) -> None:
    """Versions 4, 9 and 12 of a subject, three users of version 9, and a source that is bound to it."""
    await registry.ask(SetMode(Scope(), "IMPORT"))
    for number, text in zip((4, 9, 12), TEXTS, strict=True):
        await registry.ask(Register(ORDERS, Draft(text), number=number, schema_id=number))
    for at in range(3):
        text = f'{{"type":"record","name":"U{at}","fields":[{{"name":"o","type":"Order"}}]}}'
        user = Draft(text, references=(Reference("Order", "orders", 9),))
        await registry.ask(Register(Subject(".", f"u{at}"), user, number=1, schema_id=20 + at))
    await registry.ask(SetMode(Scope(), None))
    column = (SourceColumn("x", "INT"),)
    bound = m.SourceDefinition("bound", "STREAM", "", column, value=SourcePart("AVRO"), place="orders")
    await registry.ask(m.CreateSource(bound, value_schema=Register(ORDERS, Draft(ORDER))))


def test_a_source_names_the_version_that_it_is_bound_to_among_others() -> None:
    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        values = await values_of(show_source, registry, name="bound")
        assert [(side, subject, number) for side, _, subject, number in values["pins"]] == [("value", "orders", 9)]

    tell(story)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6])
def test_a_graph_has_no_line_to_what_was_cut(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "NODES", most)

    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        found = await graph.find_references(request_for(registry), ORDERS, 9)
        assert len(found.nodes) == min(most, 5)
        assert len(found.edges) == len(found.nodes) - 1
        assert {end for edge in found.edges for end in edge} <= found.nodes.keys() or most == 1
        assert found.is_cut == (most < 5)

    tell(story)


@pytest.mark.parametrize("version", [-1, 3])
@pytest.mark.parametrize("subject", ["money", ":.prod:money"])
def test_a_reference_in_a_form_is_read_as_it_is_printed(subject: str, version: int) -> None:
    reference = Reference("org.acme.Money", subject, version)
    printed = print_references([reference])
    latest = printed.replace(":-1", ":latest")
    assert read_reference(latest) == reference
    spaced = latest.replace("=", " = ").rpartition(":")
    assert read_reference(f"  {spaced[0]} : {spaced[2]} ") == reference


def test_a_search_is_narrowed_by_what_it_does_not_say_yet() -> None:
    facets = (FacetCount("format", "AVRO", 3), FacetCount("tag", "two words", 1))
    groups = group_facets("x format:AVRO", facets)
    assert [link for _, link in groups["format"]] == ["search?q=x+format%3AAVRO"]
    assert [link for _, link in groups["tag"]] == ["search?q=x+format%3AAVRO+tag%3A%22two+words%22"]


@pytest.mark.parametrize("desired", ["", "PAUSED"])
def test_bad_rows_of_a_source_without_a_query_are_never_paused(desired: str) -> None:
    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        described = (await registry.ask(m.DescribeSource("bound"))).answer
        (state,) = list_states(FedQuery(replace(described.source, desired=desired)), {})
        assert state.word == "waiting"

    tell(story)


def test_subjects_in_a_form_keep_their_context() -> None:
    assert subject_of(read_reference("a = :.x:b : 2").subject) == Subject(".x", "b")
