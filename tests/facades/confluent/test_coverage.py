"""What the conversations speak of: every route, every error code, and only sections that are there."""

import re
from collections.abc import Iterator

import pytest

from tests.facades.confluent.form import Conversation, FormError, Names, conversations, difference, read
from tests.facades.confluent.sections import SECTIONS
from treaty.api.confluent.context_paths import in_context
from treaty.api.confluent.query import NONE
from treaty.api.confluent.routes import ROUTES
from treaty.api.confluent.routes import TABLE as PATHS
from treaty.api.dialects.router import decode_path
from treaty.core.refusals import Invalid
from treaty.wire.confluent.errors import TABLE

ALL = conversations()
GENERIC = frozenset({400, 404, 405, 406, 413, 415, 422})
"""Errors that are an HTTP status and no line of the table."""


Spoken = tuple[str, str, int]
"""A route's path and method, and the error code that it gives; 200 where it succeeds."""

NAMED = {
    "GET /subjects": (404,),
    "POST /subjects/{}": (422, 40401, 40403, 42201),
    "DELETE /subjects/{}": (40401, 40404, 40405, 40904, 42205, 42206),
    "GET /subjects/{}/metadata": (40401, 40403),
    "GET /subjects/{}/versions": (404, 40401),
    "POST /subjects/{}/versions": (400, 415, 422, 40901, 42201, 42205, 42208, 42209, 42210),
    "GET /subjects/{}/versions/{}": (40401, 40402, 42202),
    "DELETE /subjects/{}/versions/{}": (40401, 40402, 40406, 40407, 40907, 42202, 42205, 42206),
    "GET /subjects/{}/versions/{}/schema": (40401, 40402, 42202),
    "GET /subjects/{}/versions/{}/referencedby": (404, 40401, 40402, 42202),
    "GET /schemas": (404,),
    "GET /schemas/ids/{}": (404, 40403),
    "GET /schemas/ids/{}/schema": (404, 40403),
    "GET /schemas/ids/{}/subjects": (404, 40403),
    "GET /schemas/ids/{}/versions": (404, 40403),
    "GET /schemas/guids/{}": (40403,),
    "POST /compatibility/subjects/{}/versions": (422, 42201),
    "POST /compatibility/subjects/{}/versions/{}": (422, 40402, 42201, 42202),
    "PUT /config": (400, 422, 42203, 42205, 42210),
    "DELETE /config": (42205,),
    "GET /config/{}": (40408,),
    "PUT /config/{}": (422, 42203, 42205, 42208, 42210),
    "DELETE /config/{}": (40401, 42205),
    "PUT /mode": (400, 422, 42204, 42205),
    "GET /mode/{}": (40409,),
    "PUT /mode/{}": (422, 42204, 42205, 42206, 42208),
    "DELETE /mode/{}": (40401,),
    "GET /contexts": (404,),
    "DELETE /contexts/{}": (42205, 42211),
    "DELETE /associations/resources/{}": (40410,),
}
"""Errors that the description names for a route (1.3 to 1.10), with the generic ones of 0.2 and 0.3."""


def spoken(conversation: Conversation) -> Iterator[Spoken]:
    """What a conversation asks for, and what it expects."""
    for turn in conversation.turns:
        target = re.sub(r"\$\{[^}]*\}", "1", turn.target).partition("?")[0]
        try:
            place = ROUTES.find(in_context(decode_path(target.encode()), NONE)[0])
        except (Invalid, UnicodeDecodeError):
            continue  # a path that is refused before it is looked up
        if place is not None and turn.method in place.methods:
            code = turn.members["error"][0] if "error" in turn.members else turn.status
            yield place.methods[turn.method][0], turn.method, 200 if code < 300 else code


TOLD = {one for conversation in ALL for one in spoken(conversation)}


def test_every_route_succeeds() -> None:
    routes = {(path, method, 200) for path, methods in PATHS.items() for method in methods}
    assert sorted(routes - TOLD) == []


def test_every_route_gives_every_error_that_is_named_for_it() -> None:
    named = {(*reversed(route.split()), code) for route, codes in NAMED.items() for code in codes}
    assert sorted(named - TOLD) == []


def test_every_error_code_is_told() -> None:
    told = {turn.members["error"][0] for one in ALL for turn in one.turns if "error" in turn.members}
    assert sorted(({line.code for line in TABLE} | GENERIC) - told) == []


@pytest.mark.parametrize("conversation", ALL, ids=lambda one: one.name)
def test_every_conversation_cites_sections_that_are_there(conversation: Conversation) -> None:
    assert conversation.cited
    assert sorted(conversation.cited - SECTIONS.keys()) == []
    assert conversation.turns


def test_every_section_is_cited() -> None:
    """Sections of other pages of the description, and of what is not there yet, are not in the table."""
    assert sorted(SECTIONS.keys() - set().union(*(one.cited for one in ALL))) == []


# ------------------------------------------------------------------------------- the form finds what it should find


@pytest.mark.parametrize(
    ("expected", "got", "fits"),
    [
        ({"a": 1, "b": "..."}, {"a": 1, "b": False}, True),
        ({"a": 1, "b": "..."}, {"a": 1, "b": None}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "...": "..."}, {"b": 2, "a": 1}, True),
        ({"a": 1, "...": "..."}, {"b": 2}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ([1, "..."], [1, 2], True),
        ([1], [1, 2], False),
        ("~a+", "aaa", True),
        ("~a+", "aab", False),
        ("$given", "yes", True),
        ("$given", "no", False),
        ("$pattern", "xyz", True),
        ("$fresh", None, False),
        (["$fresh", "$fresh"], [1, 1], True),
        (["$fresh", "$fresh"], [1, 2], False),
        ({"$any_order": [1, 2]}, [2, 1], True),
        ({"$any_order": [1, 2]}, [2, 1, 1], False),
        ({"$text": {"a": 1}}, '{"a":1}', True),
        ({"$text": {"a": 1}}, '{"a": 1}', False),
    ],
)
def test_an_answer_is_compared_as_it_is_written(expected: object, got: object, fits: bool) -> None:  # noqa: FBT001
    names = Names({"given": "yes", "pattern": "~x.*"})
    assert (difference(expected, got, names) == "") is fits


def test_what_breaks_the_form_is_told(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setattr("tests.facades.confluent.form.DATA", folder)
    file = folder / "one.jsonl"
    for lines, told in (
        ('{"title": "t"}', "no cites"),
        ('{"title": "t", "cites": [], "colour": 1}', "colour is not a member"),
        ('{"title": "t", "cites": []}\n{"ask": "GET /", "answr": {}}', "line 2: answr is not a member"),
        ('{"title": "t", "cites": []}\n{"ask"', "line 2"),
    ):
        file.write_text(lines)
        with pytest.raises(FormError, match=told):
            read(file)
