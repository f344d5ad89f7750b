"""Laws of sealed metadata: what is sealed opens again, every node seals alike, and nothing plain is left in a row."""

import base64
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.laws.toy import Bench, S, ToyGrammar, toy
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages import associations as t
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig, SetMode
from treaty.core.messages.transfers import ImportSubject, ImportVersion
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import NotPermitted
from treaty.core.schema import SEALED, Metadata
from treaty.core.sources import SourceColumn, SourcePart
from treaty.core.state import values
from treaty.core.state.commit import START
from treaty.core.state.rows import Row, UnreadableValue, decode_row, encode_row
from treaty.core.state.state_tables import ENCRYPTION_KEY
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.values import ConfigValue, EncryptionKeyUse, Outcome, Schema
from treaty.node.encryption import NO_KEYS, KeyFileError, MetadataCipher, encrypt_decisions, read_keys

KEYS = [base64.b64encode(bytes(range(start, start + 64))).decode() for start in (0, 64, 128)]
"""Keys that guard nothing."""


def vault(folder: Path, *numbers: int) -> MetadataCipher:
    file = folder / f"keys-{'-'.join(map(str, numbers))}"
    file.write_text("# the first one seals\n\n" + "\n".join(KEYS[number] for number in numbers) + "\n")
    return MetadataCipher(read_keys(file))


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> tuple[MetadataCipher, MetadataCipher, MetadataCipher]:
    """Two with one key each, and one with both, the second first."""
    folder = tmp_path_factory.mktemp("keys")
    return vault(folder, 0), vault(folder, 1), vault(folder, 1, 0)


names = st.text(max_size=8)
texts = st.text(max_size=40).filter(lambda text: not text.startswith(SEALED))


@st.composite
def metadata(draw: st.DrawFn) -> Metadata:
    properties = draw(st.dictionaries(names, texts, max_size=4))
    sensitive = draw(st.sets(names | st.sampled_from(sorted(properties) or ["x"]), max_size=4))
    return Metadata((), tuple(sorted(properties.items())), tuple(sorted(sensitive)))


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Rows that may hold sensitive values."""
    one, other = draw(metadata()), draw(st.none() | metadata())
    answer = '{"config":{"default_metadata":{"sensitive":["a"],"properties":[["a","' + draw(st.text("xyz")) + '"]]}}}'
    return draw(
        st.sampled_from(
            (
                Row("schema", (".", 1), Schema("g", "TOY", "[]", "l", metadata=one)),
                Row("config", ("subject", ".", "s"), ConfigValue(default_metadata=one, override_metadata=other)),
                Row("outcome", ("", "c"), Outcome(1, "config-stored", (("answer", answer), ("request", "ab")))),
            )
        )
    )


@given(rows())
def test_what_is_sealed_opens_again_and_every_node_seals_alike(
    vaults: tuple[MetadataCipher, MetadataCipher, MetadataCipher], row: Row
) -> None:
    first, second, both = vaults
    empty = DictTables()
    sealed = first.encrypt(row, empty)
    again = MetadataCipher(first.keys).encrypt(row, empty)
    assert sealed == again
    assert [encode_row(one) for one in sealed] == [encode_row(one) for one in again]
    stored = decode_row(encode_row(sealed[0])).value
    assert not isinstance(stored, UnreadableValue)
    assert first.decrypt(stored) == row.value
    assert both.decrypt(stored) == row.value, "an older key opens"
    assert second.decrypt(stored) == stored, "another key leaves it sealed"
    assert NO_KEYS.decrypt(stored) == stored
    if sealed != (row,):
        assert sealed[1] == Row("encryption_key", (first.keys[0].id,), EncryptionKeyUse())
        assert both.encrypt(row, empty)[0] != sealed[0], "the first key seals"
        with pytest.raises(NotPermitted) as refused:
            first.encrypt(sealed[0], empty)
        assert refused.value.reason.rule == "METADATA_SEALED"


@given(metadata())
def test_no_sensitive_value_is_left_in_a_row_and_nothing_else_is_changed(
    vaults: tuple[MetadataCipher, MetadataCipher, MetadataCipher], one: Metadata
) -> None:
    row = Row("schema", (".", 1), Schema("g", "TOY", "[]", "l", metadata=one))
    stored = vaults[0].encrypt(row, DictTables())[0].value
    assert isinstance(stored, Schema)
    assert stored.metadata is not None
    for (name, plain), (same, kept) in zip(one.properties, stored.metadata.properties, strict=True):
        assert name == same
        assert kept.startswith(SEALED) == (name in one.sensitive)
        assert kept == plain or name in one.sensitive
    assert replace(stored, metadata=one) == row.value


@given(texts, texts)
def test_equal_values_under_different_names_are_sealed_differently(
    vaults: tuple[MetadataCipher, MetadataCipher, MetadataCipher], one: str, other: str
) -> None:
    assume(one != other)
    held = Metadata((), tuple(sorted({one: "v", other: "v"}.items())), tuple(sorted({one, other})))
    stored = vaults[0].encrypt(Row("schema", (".", 1), Schema("g", "T", "", "l", metadata=held)), DictTables())[0].value
    assert isinstance(stored, Schema)
    assert stored.metadata is not None
    assert len({value for _, value in stored.metadata.properties}) == 2


# ------------------------------------------------------------------------------------------------- encrypt_decisions a vault

OWNED = Metadata(properties=(("owner", "ada"), ("token", "hunter2")), sensitive=("token",))


class Sealed(Bench):
    """A bench whose law stands encrypt_decisions a vault."""

    def __init__(self, vault: MetadataCipher, tables: DictTables | None = None) -> None:
        super().__init__()
        self.law = encrypt_decisions(vault, decide)
        self.tables = tables or self.tables

    def verdict(self, request: Request, command_id: str = "") -> Decision:  # type: ignore[type-arg]
        verdict = self.law(self.tables, Command(request, command_id or f"c{self.clock}", 1_000), ToyGrammar())
        if isinstance(verdict, Exception):
            raise verdict
        assert isinstance(verdict, Decision)
        return verdict


def texts_of(bench: Bench) -> str:
    return "".join(str(row.value) for row in bench.tables.rows())


def test_guids_and_ids_are_those_of_the_plain_values(tmp_path: Path) -> None:
    plain, sealed = Bench(), Sealed(vault(tmp_path, 0))
    told = [bench.do(Register(S, toy("a", metadata=OWNED))).version for bench in (plain, sealed)]
    assert told[0] == told[1]
    assert "hunter2" in texts_of(plain)
    assert "hunter2" not in texts_of(sealed)
    assert not sealed.do(Register(S, toy("a", metadata=OWNED))).created
    assert sealed.do(Register(S, toy("a", "b?"))).version.metadata == OWNED, "inherited, and read on the way"
    assert sealed.do(GetVersion(S, 2)).metadata == OWNED


def test_settings_and_what_is_remembered_of_them_are_sealed_too(tmp_path: Path) -> None:
    bench = Sealed(vault(tmp_path, 0))
    stored = bench.do(SetConfig(Scope(*S), Config(default_metadata=OWNED)), "first")
    assert bench.do(GetConfig(Scope(*S))).config.default_metadata == OWNED
    assert bench.do(SetConfig(Scope(*S), Config(default_metadata=OWNED)), "first") == stored, "answered from memory"
    assert "hunter2" not in texts_of(bench)
    assert "hunter2" in str(stored)


PLACES = [(kind, member.name) for kind in vars(values).values() if is_dataclass(kind) for member in fields(kind)
          if "Metadata" in str(member.type)]  # fmt: skip
"""Members of rows that hold metadata."""
HOLDERS: dict[type, tuple[str, Key, Any]] = {
    Schema: ("schema", (".", 1), Schema("g", "TOY", "[]", "l")),
    ConfigValue: ("config", ("subject", ".", "s"), ConfigValue()),
}
"""Table, key and value of a row of each kind that has such members."""


@pytest.mark.parametrize(("kind", "member"), PLACES, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("beside", [None, Metadata(properties=(("owner", "ada"),))], ids=["alone", "beside others"])
def test_metadata_is_sealed_wherever_a_row_holds_it(
    tmp_path: Path, kind: type, member: str, beside: Metadata | None
) -> None:
    """Also where no other member of the row has a sensitive property; and a node without the key writes none of it."""
    others = {name: beside for holder, name in PLACES if holder is kind}
    table, key, value = HOLDERS[kind]
    row = Row(table, key, replace(value, **(others | {member: OWNED})))
    cipher, tables = vault(tmp_path, 0), DictTables()
    sealed, *key_rows = cipher.encrypt(row, tables)
    stored: Any = sealed.value
    assert "hunter2" not in str(stored)
    assert cipher.decrypt(stored) == row.value
    tables.apply([encode_row(key_row) for key_row in key_rows], START)
    for other in (NO_KEYS, vault(tmp_path, 1)):
        assert other.decrypt(stored) == stored
    with pytest.raises(NotPermitted):
        NO_KEYS.encrypt(row, tables)


SECRET = Register(S, toy("a", metadata=OWNED))
TOPIC = t.Resource("t", "ns", "id-t")
SOURCE = m.CreateSource(
    m.SourceDefinition(
        "s", "STREAM", "", (SourceColumn("a", "INT"),), value=SourcePart("AVRO", "prefix"), connector="kafka", place="s"
    ),
    value_schema=SECRET,
)
CARRYING: dict[str, tuple[tuple[Request[Any], ...], Request[Any]]] = {
    "a registration": ((), SECRET),
    "a registration with an id": ((SetMode(Scope(*S), "IMPORT"),), replace(SECRET, schema_id=7)),
    "a version from another": ((Register(S, toy("a")),), Derive(S, 1, metadata=OWNED)),
    "a publication": ((), Publish(Subject(".", "v/n/toy"), "1-0-0", SECRET.draft)),
    "an imported version": (
        (SetMode(Scope(*S), "IMPORT"), ImportSubject(S, GroupSettings("treaty"))), ImportVersion(S, SECRET.draft, 0, 1),
    ),
    "a schema of a topic": ((), t.Associate(TOPIC, (t.AssociationSpec(subject=S, schema=SECRET),))),
    "a schema of a topic in a batch": (
        (), t.ChangeAssociations(
            (t.ResourceChange(TOPIC, (t.AssociationChange("CREATE", t.AssociationSpec(subject=S, schema=SECRET)),)),)
        ),
    ),
    "a schema of a source": ((), SOURCE),
    "a schema of a source in a script": ((), RunScript((ScriptMember(SOURCE),))),
    "a config that completes": ((), SetConfig(Scope(*S), Config(default_metadata=OWNED))),
    "a config that overrides": ((), SetConfig(Scope(*S), Config(override_metadata=OWNED))),
}  # fmt: skip
"""What was done before, and a command that carries metadata."""


@pytest.mark.parametrize("what", CARRYING)
def test_metadata_is_sealed_whatever_command_brings_it(tmp_path: Path, what: str) -> None:
    """Also in what is remembered of the command."""
    before, request = CARRYING[what]
    bench = Sealed(vault(tmp_path, 0))
    for earlier in before:
        bench.do(earlier)
    answer = bench.do(request, "asked")
    assert "hunter2" not in texts_of(bench)
    assert SEALED in texts_of(bench)
    assert bench.do(request, "asked") == answer, "answered from memory"


def test_a_node_without_the_key_reads_what_is_sealed_and_writes_none(tmp_path: Path) -> None:
    held = Sealed(vault(tmp_path, 0))
    held.do(Register(S, toy("a", metadata=OWNED)))
    for other in (NO_KEYS, vault(tmp_path, 1)):
        bench = Sealed(other, held.tables)
        bench.position, bench.clock = held.position, 10
        assert other.list_missing(bench.tables) == (vault(tmp_path, 0).keys[0].id,)
        told = bench.do(GetVersion(S, 1))
        assert told.metadata is not None
        assert told.metadata.get("owner") == "ada"
        assert str(told.metadata.get("token")).startswith(SEALED)
        for request in (Register(S, toy("a", "b?")), Register(S, toy("a", "c?", metadata=told.metadata))):
            with pytest.raises(NotPermitted) as refused:
                bench.verdict(request)
            assert refused.value.reason.rule in {"METADATA_KEY_MISSING", "METADATA_SEALED"}
            assert "key" in refused.value.reason.allowed
    with pytest.raises(NotPermitted) as refused:
        Sealed(NO_KEYS, held.tables).verdict(Register(S, toy("a", "b?", metadata=OWNED)), "x")
    assert refused.value.reason.rule == "METADATA_KEY_MISSING"
    plain = Sealed(NO_KEYS, held.tables).verdict(Register(S, toy("a", "b?", metadata=Metadata())), "y")
    assert plain.rows, "what is not sensitive is written"


def test_rotation_writes_with_the_first_key_and_reads_with_all(tmp_path: Path) -> None:
    bench = Sealed(vault(tmp_path, 0))
    bench.do(Register(S, toy("a", metadata=OWNED)))
    later = replace(OWNED, properties=(("owner", "ada"), ("token", "correct horse")))
    bench.law = encrypt_decisions(vault(tmp_path, 1, 0), decide)
    bench.do(Register(S, toy("a", "b?", metadata=later)))
    assert bench.do(GetVersion(S, 1)).metadata == OWNED
    assert bench.do(GetVersion(S, 2)).metadata == later
    assert len(list(bench.tables.keys(ENCRYPTION_KEY))) == 2
    assert not bench.do(Register(S, toy("a", "b?", metadata=later))).created
    assert vault(tmp_path, 1).list_missing(bench.tables), "the old key is still in use"


def test_tables_that_hold_sealed_rows_have_one_digest_whoever_reads_them(tmp_path: Path) -> None:
    one, other = Sealed(vault(tmp_path, 0)), Sealed(vault(tmp_path, 0))
    for bench in (one, other):
        bench.do(Register(S, toy("a", metadata=OWNED)), "c")
    assert one.tables.roots == other.tables.roots
    reader = DictTables()
    reader.load(tuple(one.tables.rows()), START)
    assert reader.roots == one.tables.roots, "a reader needs no key for it"


# -------------------------------------------------------------------------------------------------- files of keys


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([], "there is no key; make one"),
        (["# only words"], "there is no key; make one"),
        (["no base64!"], "line 1: no key; expected 32, 48 or 64 random bytes"),
        (["", base64.b64encode(b"x" * 33).decode()], "line 2: no key"),
        ([KEYS[0], KEYS[0]], "line 2: the key is repeated"),
        ([base64.b64encode(n.to_bytes(32, "big")).decode() for n in range(101)], "more than 100 keys"),
    ],
    ids=["empty", "comments", "words", "size", "twice", "many"],
)
def test_a_file_that_has_no_keys_says_why(tmp_path: Path, lines: list[str], wrong: str) -> None:
    file = tmp_path / "keys"
    file.write_text("\n".join(lines))
    with pytest.raises(KeyFileError, match=wrong):
        read_keys(file)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_keys(tmp_path / "nothing")
