"""Vectors of others: Avro's own schema tests, and the Avro schemas of Iglu Central."""

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.oracle.avro_treaty import described, model
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.fingerprint import pravega, print_parsing_form, rabin
from treaty.formats.avro.format import FORMAT
from treaty.formats.format import InvalidSchemaError

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
    form = print_parsing_form(model(members["INPUT"]))

    assert form == members["canonical"]
    if "fingerprint" in members:
        assert rabin(form.encode()) == int(members["fingerprint"]) % 2**64


def test_a_crc_has_its_least_significant_byte_first() -> None:
    assert FORMAT.fingerprints["CRC-64-AVRO"](model('"null"')) == (7195948357588979594).to_bytes(8, "little")
    assert FORMAT.fingerprints["CRC-64-AVRO"](model('"null"')).hex() == "8a8f25cce724dd63"


def sha(text: str) -> bytes:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).digest()


INNER = '{"type":"record","name":"B","namespace":"n","doc":"kept","fields":[]}'


def test_pravegas_fingerprint_is_that_of_the_branch_that_a_type_names() -> None:
    outer = '{"type":"record","name":"A","fields":[{"name":"b","type":"n.B"}]}'
    union = model(f'[ {INNER},\n{outer}, "int"]')

    assert pravega(union) == FORMAT.fingerprints["PRAVEGA"](union) == sha(f'[{INNER},{outer},"int"]')
    assert pravega(union, "n.B") == pravega(model(INNER)) == pravega(model(INNER), "n.B") == sha(INNER)
    assert pravega(union, "A") == sha(outer.replace('"n.B"', INNER)), "what the branch needs is printed inside"
    assert pravega(union, "int") == sha('"int"')


@pytest.mark.parametrize(("text", "name"), [(f"[{INNER}]", "B"), (INNER, "C"), ("[]", "n.B"), ('"int"', "long")])
def test_pravega_refuses_a_type_that_is_not_there(text: str, name: str) -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        pravega(model(text), name)
    assert refused.value.faults[0].rule == "TYPE_UNKNOWN"
    assert refused.value.faults[0].expected


def test_the_file_was_read_whole() -> None:
    assert len(vectors()) == (DATA / "avro-schema-tests.txt").read_text("utf-8").count("\n<<INPUT")
    assert len(vectors()) == 34
    assert sum("fingerprint" in members for _, members in vectors()) == 26


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


LABELS = json.loads((DATA / "iglu-labels-avro.json").read_text("utf-8"))


def test_each_family_of_iglu_central_gets_the_verdict_that_is_listed_with_its_label() -> None:
    families: dict[str, list[Path]] = {}
    for path in IGLU:
        families.setdefault("/".join(path.parts[-4:-2]), []).append(path)
    found = []
    for name, paths in families.items():
        for old, new in pairwise(paths):
            judged = compare(model(new.read_text("utf-8")), model(old.read_text("utf-8")))
            label = "REVISION" if old.name.split("-")[1] != new.name.split("-")[1] else "ADDITION"
            rules = sorted({one.rule for one in judged})
            found.append({"schema": name, "old": old.name, "new": new.name, "label": label, "rules": rules})

    assert found == [{name: told for name, told in row.items() if name != "why"} for row in LABELS]
    for row in LABELS:
        promised = row["label"] == "ADDITION" and bool(row["rules"])
        assert ("contradiction" in row["why"]) == promised, "an addition promises to read all old data"
