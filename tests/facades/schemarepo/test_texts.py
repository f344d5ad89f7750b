"""Texts of schema-repo are printed and read again; media types are chosen from left to right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.wire.schemarepo.properties import print_properties, read_properties
from treaty.wire.schemarepo.requests import ordinal_of
from treaty.wire.schemarepo.texts import (
    JSON,
    TEXT,
    LineBreakError,
    SchemaEntry,
    choose_media,
    print_entries,
    print_entry,
    print_names,
    read_entries,
    read_entry,
    read_names,
    wants_text,
)

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))
ANY = st.text(st.characters(exclude_categories=["Cs"]))
IDS = st.integers(0, 99).map(str)


@given(IDS, ANY)
def test_an_entry_is_read_as_it_was_printed(id_: str, schema: str) -> None:
    assert read_entry(print_entry(SchemaEntry(id_, schema))) == SchemaEntry(id_, schema)


@pytest.mark.parametrize("text", ["", "0", "schema", "\tschema"])
def test_a_text_without_a_tabulator_is_no_entry(text: str) -> None:
    with pytest.raises(ValueError, match="no entry"):
        read_entry(text)


@given(st.lists(st.builds(SchemaEntry, IDS, LINE)))
def test_lists_are_read_as_they_were_printed(entries: list[SchemaEntry]) -> None:
    for media in (TEXT, JSON):
        assert read_entries(print_entries(entries, media), media) == tuple(entries)


@given(st.lists(LINE))
def test_names_are_read_as_they_were_printed(names: list[str]) -> None:
    for media in (TEXT, JSON):
        assert read_names(print_names(names, media), media) == tuple(names)


@given(ANY, st.sampled_from(["\n", "\r", "\r\n"]), ANY)
def test_a_list_of_lines_never_breaks_a_schema(before: str, end: str, after: str) -> None:
    entry = SchemaEntry("7", before + end + after)
    with pytest.raises(LineBreakError, match="id 7 has a line break"):
        print_entries([entry], TEXT)
    assert read_entries(print_entries([entry], JSON), JSON) == (entry,)


@pytest.mark.parametrize("data", [b"", b"null", b" "])
def test_nothing_is_an_empty_list(data: bytes) -> None:
    assert read_entries(data, JSON) == ()
    assert read_names(data, JSON) == ()
    assert read_entries(b"", TEXT) == ()
    assert read_names(b"", TEXT) == ()


@given(st.dictionaries(ANY, ANY))
def test_properties_are_read_as_they_were_printed(properties: dict[str, str]) -> None:
    assert read_properties(print_properties(properties.items(), "a comment")) == properties


def test_properties_as_java_writes_them() -> None:
    text = "#c\n#Thu Nov 24 12:00:00 UTC 2016\n! c\n\n  a = 1\nb:2\nc 3\nd\ne\\=\\:\\ f=\\u00e9\\t x\ng=h\\\n   i\nj=\\\\\nk=C\\:\\\\x"
    assert read_properties(text) == {
        "a": "1", "b": "2", "c": "3", "d": "", "e=: f": "é\t x", "g": "hi", "j": "\\", "k": "C:\\x"
    }  # fmt: skip
    printed = print_properties([("e=: f", " é\t x "), ("k", "C:\\x#!")], "c")
    assert printed == "# c\ne\\=\\:\\ f=\\ é\\t x \nk=C\\:\\\\x\\#\\!\n"


@pytest.mark.parametrize(
    ("accept", "text", "both"),
    [
        ("", TEXT, TEXT),
        ("*/*", TEXT, TEXT),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", TEXT, TEXT),
        ("text/html", TEXT, TEXT),
        ("text/html, application/json", TEXT, JSON),
        ("application/json", None, JSON),
        ("Application/JSON;q=0.1, text/plain", TEXT, JSON),
        ("application/*", None, JSON),
        ("image/jpeg", None, None),
        ("image/jpeg, text/plain", TEXT, TEXT),
    ],
)
def test_the_first_known_type_wins(accept: str, text: str | None, both: str | None) -> None:
    assert (choose_media(accept, (TEXT,)), choose_media(accept, (TEXT, JSON))) == (text, both)


def test_who_reads_text() -> None:
    assert wants_text("text/plain")
    assert wants_text("text/plain;q=0.5, */*")
    for accept in (
        "",
        "*/*",
        "text/html",
        "text/plain, application/json",
        "application/vnd.schemaregistry.v1+json, text/plain",
    ):
        assert not wants_text(accept)


@pytest.mark.parametrize("text", ["", "-1", "+1", "01", "1.0", "x", "²", "١", "2147483648", "9" * 10_000, " 1"])
def test_what_is_no_id(text: str) -> None:
    assert ordinal_of(text) is None
    assert (ordinal_of("0"), ordinal_of("1", 1), ordinal_of("0", 1), ordinal_of("2147483647")) == (
        0,
        0,
        None,
        2**31 - 1,
    )
