"""Vectors of others: Avro's own schema tests, and the Avro schemas of Iglu Central."""

import json
import re
from pathlib import Path

import pytest

from tests.oracle.avro_treaty import described, model
from treaty.formats.avro.fingerprint import parsing_form, rabin

DATA = Path(__file__).parent / "data"
IGLU = sorted(path for path in (DATA / "iglu-central").rglob("avro/*") if path.is_file())


def vectors() -> list[tuple[str, dict[str, str]]]:
    """The cases of Avro's file: a number, and its members INPUT, canonical and fingerprint."""
    text = "\n".join(
        line for line in (DATA / "avro-schema-tests.txt").read_text("utf-8").splitlines() if line[:1] != "#"
    )
    cases = []
    for number, body in re.findall(r"^// (\d+)\n(.*?)(?=^// \d+|\Z)", text, re.DOTALL | re.MULTILINE):
        members: dict[str, str] = {}
        for word, line, block in re.findall(r"^<<(\w+)(?: ([^\n]*)|\n(.*?)\n\1)$", body, re.DOTALL | re.MULTILINE):
            members[word] = line or block
        cases.append((number, members))
    return cases


@pytest.mark.parametrize("members", [pytest.param(members, id=number) for number, members in vectors()])
def test_canonical_form_and_fingerprint_are_those_of_avro(members: dict[str, str]) -> None:
    form = parsing_form(model(members["INPUT"]))

    assert form == members["canonical"]
    if "fingerprint" in members:
        assert rabin(form.encode()) == int(members["fingerprint"]) % 2**64


def test_the_file_was_read_whole() -> None:
    assert len(vectors()) == (DATA / "avro-schema-tests.txt").read_text("utf-8").count("\n<<INPUT")
    assert sum("fingerprint" in members for _, members in vectors()) >= 15


@pytest.mark.parametrize("path", [pytest.param(path, id="/".join(path.parts[-4:])) for path in IGLU])
def test_a_schema_of_iglu_central_parses_and_keeps_its_meaning_in_every_form(path: Path) -> None:
    text = path.read_text("utf-8")
    said = described(text)

    assert said["valid"], said
    again = described(said["canonical"])
    assert again == said
    assert described(said["parsing"])["parsing"] == said["parsing"]
    assert json.loads(said["canonical"])["name"] == json.loads(text)["name"]


def test_all_sixteen_are_there() -> None:
    assert len(IGLU) == 16
