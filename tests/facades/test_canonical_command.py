"""`treaty canonical` and `treaty fingerprint`: texts and digests as registries know them."""

import hashlib
import json
from pathlib import Path

import pytest

import treaty
from tests.commands import run
from tests.facades.shouting import offer
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

MONEY = '{"type":"fixed","name":"org.Money","size":8}'
USES = '{ "name": "U", "type": "record", "fields": [ {"name": "m", "type": "org.Money"} ] }'
CANONICAL = '{"type":"record","name":"U","fields":[{"name":"m","type":"org.Money"}]}'
RESOLVED = (
    '{"type":"record","name":"U","fields":[{"name":"m","type":'
    '{"type":"fixed","name":"Money","namespace":"org","size":8}}]}'
)
PARSING = '{"name":"U","type":"record","fields":[{"name":"m","type":{"name":"org.Money","type":"fixed","size":8}}]}'
REFERENCE = ("--reference", "org.Money=money.avsc")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "money.avsc").write_text(MONEY)
    (tmp_path / "uses.avsc").write_text(USES)
    (tmp_path / "words.shout").write_text("b a")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["uses.avsc", *REFERENCE], CANONICAL),
        (["uses.avsc", *REFERENCE, "--view", "resolved"], RESOLVED),
        (["uses.avsc", *REFERENCE, "--view", "parsing", "--normalize"], PARSING),
        (["words.shout"], "b\na"),
        (["words.shout", "--normalize"], "a\nb"),
        (["words.shout", "--view", "upper"], "B A"),
        (["words.shout", "--view", "upper", "--normalize"], "A B"),
    ],
)
def test_texts(words: list[str], text: str) -> None:
    result = run("canonical", *words)

    assert (result.exit_code, result.stdout) == (0, f"{text}\n")
    assert json.loads(run("canonical", *words, "--json").stdout)["text"] == text


def test_standard_input_and_its_output_are_the_same_text() -> None:
    once = run("canonical", "-", *REFERENCE, stdin=USES).stdout

    assert run("canonical", "-", *REFERENCE, stdin=once).stdout == once == f"{CANONICAL}\n"


def test_an_unknown_view_is_told_with_those_that_there_are() -> None:
    result = run("canonical", "money.avsc", "--view", "serialised")

    assert result.exit_code == 2
    assert "AVRO has no view 'serialised'; known are logical, parsing, resolved" in result.stderr


def test_an_invalid_text_is_told_as_json_too() -> None:
    result = run("canonical", "-", "--json", stdin='{"type":\n"record"}')
    told = json.loads(result.stdout)["error"]

    assert result.exit_code == 2
    assert [(one["rule"], one["line"], one["column"]) for one in told["faults"]] == [("NAME_MISSING", 1, 1)]
    assert "<stdin>:1:1: NAME_MISSING" in result.stderr


def digests(*words: str) -> dict[str, str]:
    result = run("fingerprint", *words, "--json")
    assert result.exit_code == 0, result.output
    told: dict[str, str] = json.loads(result.stdout)["fingerprints"]
    return told


def test_fingerprints_are_those_of_the_specification() -> None:
    (Path("int.avsc")).write_text('"int"')
    told = digests("int.avsc")

    # The fingerprints of "int" in the Avro specification's own tests.
    assert told["CRC-64-AVRO-BE"] == "7275d51a3f395c8f"
    assert told["CRC-64-AVRO-LE"] == "8f5c393f1ad57572"
    assert told["MD5"] == hashlib.md5(b'"int"', usedforsecurity=False).hexdigest()
    assert told["SHA-256"] == hashlib.sha256(b'"int"').hexdigest()


def test_the_guid_is_the_one_that_a_registry_gives(folder: Path) -> None:
    (folder / "m.json").write_text('{"properties":{"owner":"me"},"tags":{"U.m":["PII"]}}')
    (folder / "r.json").write_text('{"domainRules":[{"name":"r","kind":"CONDITION","mode":"WRITE","type":"CEL"}]}')
    with treaty.connect("memory:") as registry:
        registry.register("other", MONEY)
        registry.register("money", MONEY.replace("8", "9"))
        registry.set_level("money", "NONE")
        registry.register("money", MONEY)
        used = (Reference("org.Money", "money", 2),)
        plain = registry.register("a", Draft(USES, references=used)).version.guid
        metadata = Metadata((("U.m", ("PII",)),), (("owner", "me"),))
        rules = RuleSet(domain=(Rule("r", "CONDITION", "WRITE", "CEL"),))
        full = registry.register("b", Draft(USES, "AVRO", used, metadata, rules)).version.guid
    words = ["uses.avsc", *REFERENCE, "--reference-version", "org.Money=money:2"]

    assert digests(*words)["GUID"] == plain
    assert digests(*words, "--metadata", "m.json", "--rule-set", "r.json")["GUID"] == full
    assert digests("uses.avsc", *REFERENCE)["GUID"] not in {plain, full}


def test_one_alone_is_for_scripts_and_both_orders_of_a_crc_are_labelled() -> None:
    assert run("fingerprint", "money.avsc", "--algorithm", "md5").stdout.strip() == digests("money.avsc")["MD5"]
    both = run("fingerprint", "words.shout", "--algorithm", "CRC-64-AVRO").stdout
    assert "CRC-64-AVRO-LE  0001020304050602  least significant byte first" in both
    assert "CRC-64-AVRO-BE  0206050403020100  the same as a number, most significant byte first" in both
    assert run("fingerprint", "money.avsc", "--algorithm", "guid").stdout.count("-") == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--algorithm", "SHA-1"], "unknown fingerprint 'SHA-1'; known are GUID, CRC-64-AVRO-LE"),
        (["--reference-version", "org.Money=money:2"], "is not NAME=SUBJECT:VERSION with the NAME of a --reference"),
        (["--reference-version", "x"], "is not NAME=SUBJECT:VERSION"),
        (["--metadata", "money.avsc", "--rule-set", "words.shout"], "words.shout is not valid JSON of Confluent's API"),
        (["--metadata", "missing.json"], "missing.json cannot be read"),
    ],
)
def test_wrong_use_is_told(words: list[str], told: str) -> None:
    result = run("fingerprint", "money.avsc", *words)

    assert result.exit_code == 2
    assert told in result.stderr
