"""Encryption at rest of sensitive metadata, between the handlers and everything that stores rows.

Handlers see decrypted values; the log, the tables, state files and dumps contain only encrypted ones, so digests agree.
A value is encrypted deterministically, bound to its name, so that every node with the same keys makes the same row. A
reader of the log sees which values of one name are equal, and their length.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.limits import METADATA_KEYS
from treaty.core.refusals import NotPermitted, Refusal
from treaty.core.schema import SEALED, Metadata, Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import Row, Value, make_row
from treaty.core.state.state_tables import ENCRYPTION_KEY, AnyIndex, AnyTable, EncryptionKeyName
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import ConfigValue, EncryptionKeyUse, Outcome, Schema
from treaty.core.state.view import View
from treaty.distribution import install_command
from treaty.light_dataclass import dataclass

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

SIZES = (32, 48, 64)
"""Sizes of keys in bytes: AES-SIV uses two AES keys."""
ID_DIGITS = 12
"""Hex digits of a key id, which is part of every encrypted value."""


class KeyFileError(ValueError):
    """A key file is invalid; the message has the line and what is expected."""


@dataclass(frozen=True, slots=True)
class CipherKey:
    """A key, and its id, which is derived from the key and does not reveal it."""

    id: str
    cipher: "AESSIV"


def read_keys(path: Path) -> tuple[CipherKey, ...]:
    """Read a key file: one key per line in base64, the first one encrypts; empty lines and those with ``#`` are
    skipped.

    Raises `KeyFileError` for a file that is unreadable, has no key, or an invalid line.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise KeyFileError(f"{path}: the key file cannot be read ({type(reason).__name__})") from None
    keys: list[CipherKey] = []
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word and not word.startswith("#"):
            keys.append(_key(path, number, word))
            if len({key.id for key in keys}) < len(keys):
                raise KeyFileError(f"{path} line {number}: the key is repeated; remove one of them")
    if not keys:
        raise KeyFileError(f"{path}: there is no key; make one: python3 -c {_MAKE!r} > {path.name}")
    if len(keys) > METADATA_KEYS:
        raise KeyFileError(f"{path}: more than {METADATA_KEYS} keys (limit METADATA_KEYS)")
    return tuple(keys)


_MAKE = "import base64, os; print(base64.b64encode(os.urandom(64)).decode())"


def _key(path: Path, number: int, word: str) -> CipherKey:
    try:
        data = base64.b64decode(word, validate=True)
    except binascii.Error:
        data = b""
    if len(data) not in SIZES:
        sizes = ", ".join(map(str, SIZES[:-1]))
        raise KeyFileError(f"{path} line {number}: no key; expected {sizes} or {SIZES[-1]} random bytes in base64")
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415 (an extra, needed only here)
    except ImportError:
        raise KeyFileError(f"keys for metadata need cryptography: {install_command('encryption')}") from None
    return CipherKey(hashlib.sha256(b"treaty metadata key" + data).hexdigest()[:ID_DIGITS], AESSIV(data))


# ------------------------------------------------------------------------------------------------------------ the cipher

ABOUT = b"treaty metadata"
OUTCOME = "outcome"
"""The name with which an outcome is encrypted as a whole."""

Change = Callable[[str, str], str]
"""Maps a value, given its name."""


@dataclass(frozen=True, slots=True)
class MetadataCipher:
    """Encrypts with the first key, decrypts with all. Without a key nothing is encrypted or decrypted. AES-SIV is
    deterministic: equal values of one name have equal ciphertexts.
    """

    keys: tuple[CipherKey, ...] = ()

    # ------------------------------------------------------------------------------------------------------ rows

    def encrypt(self, row: Row, view: View) -> tuple[Row, ...]:
        """Return the encrypted row for the log, and the row of its key if the key is new there.

        Raises `NotPermitted` for sensitive values that this node cannot encrypt although the log has encrypted ones,
        and for values that look encrypted: a client has read them from a node without their key.
        """
        if row.value is None or not _is_sensitive(row.value):
            return (row,)
        if not self.keys:
            self._refuse_plain(row.value, view)
            return (row,)
        encrypted = replace(row, value=_change(row.value, self._encrypt_text))
        if encrypted == row:
            return (row,)
        key = EncryptionKeyName(self.keys[0].id)
        is_stored = view.get(ENCRYPTION_KEY, key) is not None
        return (encrypted,) if is_stored else (encrypted, make_row(ENCRYPTION_KEY, key, EncryptionKeyUse()))

    def decrypt(self, value: V | None) -> V | None:
        """Return the decrypted value of a row; parts without a key stay encrypted."""
        if value is None or not _is_sensitive(value):
            return value
        return _change(value, self._decrypt_text)  # type: ignore[return-value]  # members change, and not the class

    def list_missing(self, view: View) -> tuple[str, ...]:
        """Return ids of keys that encrypted values in this log and that this node lacks."""
        own_keys = {key.id for key in self.keys}
        return tuple(sorted(used.key for used in view.keys(ENCRYPTION_KEY) if used.key not in own_keys))

    def _refuse_plain(self, value: Value, view: View) -> None:
        sensitive_names: list[str] = []

        def note(name: str, text: str) -> str:
            sensitive_names.append(name)
            return text

        _change(value, note)
        used = self.list_missing(view)
        if sensitive_names and used:
            raise NotPermitted.of(
                "METADATA_KEY_MISSING",
                f"This node can't write sensitive metadata ({', '.join(sensitive_names[:5])}): it is sealed with keys that this "
                "node does not have",
                path="/metadata/sensitive",
                old=", ".join(used),
                allowed="a node that was started with --metadata-key-file, or metadata without sensitive properties",
            )

    # ---------------------------------------------------------------------------------------------------- values

    def _encrypt_text(self, name: str, text: str) -> str:
        if text.startswith(SEALED):
            raise NotPermitted.of(
                "METADATA_SEALED",
                f"The sensitive property '{name}' is a sealed value that no key of this node opens",
                path=f"/metadata/properties/{name}",
                old=text[: len(SEALED) + 40],
                allowed="a node that has its key, or another value",
            )
        key = self.keys[0]
        data = key.cipher.encrypt(b"\1" + text.encode("utf-8", "surrogatepass"), [ABOUT, name.encode()])
        return f"{SEALED}{key.id}:{base64.urlsafe_b64encode(data).decode()}"

    def _decrypt_text(self, name: str, text: str) -> str:
        if not text.startswith(SEALED):
            return text
        word, _, data = text.removeprefix(SEALED).partition(":")
        for key in self.keys:
            if key.id == word:
                try:
                    plain = key.cipher.decrypt(base64.urlsafe_b64decode(data), [ABOUT, name.encode()])
                except Exception:  # noqa: BLE001 - the cipher's own, whose package is there only where a key is
                    return text
                return plain[1:].decode("utf-8", "surrogatepass")
        return text


NO_KEYS = MetadataCipher()


# ----------------------------------------------------------------------------------------------- where values stand


def _is_sensitive(value: Value | None) -> bool:
    """Return whether a row may contain a sensitive value."""
    of_kind = _OF_KIND.get(type(value))
    return of_kind is not None and of_kind(value)


def _is_sensitive_schema(value: Schema) -> bool:
    return value.metadata is not None and bool(value.metadata.sensitive)


def _is_sensitive_config(value: ConfigValue) -> bool:
    under, over = value.default_metadata, value.override_metadata
    return (under is not None and bool(under.sensitive)) or (over is not None and bool(over.sensitive))


def _is_sensitive_outcome(value: Outcome) -> bool:
    answers = [text for name, text in value.members if name == "answer"]
    return any('"sensitive"' in text or text.startswith(SEALED) for text in answers)


_OF_KIND: Mapping[type, Callable[[Any], bool]] = {
    Schema: _is_sensitive_schema, ConfigValue: _is_sensitive_config, Outcome: _is_sensitive_outcome
}  # fmt: skip


def _change(value: Value, change: Change) -> Value:
    match value:
        case Schema(metadata=Metadata() as metadata):
            return replace(value, metadata=_change_metadata(metadata, change))
        case ConfigValue(default_metadata=under, override_metadata=over):
            under, over = (metadata and _change_metadata(metadata, change) for metadata in (under, over))
            return replace(value, default_metadata=under, override_metadata=over)
        case Outcome(members=members):
            return replace(
                value, members=_change_pairs(members, frozenset({"answer"}), lambda _, text: change(OUTCOME, text))
            )
    return value


def _change_metadata(metadata: Metadata, change: Change) -> Metadata:
    return replace(metadata, properties=_change_pairs(metadata.properties, frozenset(metadata.sensitive), change))


def _change_pairs(pairs: Pairs, names: frozenset[str], change: Change) -> Pairs:
    return tuple((name, change(name, text) if name in names else text) for name, text in pairs)


# ------------------------------------------------------------------------------------------------------ behind the rules

Decide = Callable[[View, Command[Any], SchemaEngine], Decision[Any] | Refusal | OpenQuestions]


def encrypt_decisions(cipher: MetadataCipher, decide: Decide) -> Decide:
    """Return `decide` for a node with these keys: it sees decrypted values and returns encrypted rows."""

    def encrypting(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
        verdict = decide(decrypt_view(cipher, view), command, engine)
        if not isinstance(verdict, Decision) or not verdict.rows:
            return verdict
        if not any(_is_sensitive(row.value) for row in verdict.rows):
            return verdict
        try:
            rows = tuple(encrypted for row in verdict.rows for encrypted in cipher.encrypt(row, view))
        except Refusal as refusal:
            return refusal
        return verdict if rows == verdict.rows else replace(verdict, rows=tuple(dict.fromkeys(rows)))

    return encrypting


def decrypt_view(cipher: MetadataCipher, view: View) -> View:
    """Return a view with decrypted sensitive values, if there are keys."""
    return DecryptedView(view, cipher) if cipher.keys else view


class DecryptedView:
    """A view whose sensitive values are decrypted."""

    __slots__ = ("_base", "_cipher")

    def __init__(self, base: View, cipher: MetadataCipher) -> None:
        """Show what the base shows, decrypted."""
        self._base = base
        self._cipher = cipher

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root, as stored."""
        roots: Mapping[str, int] = getattr(self._base, "roots", {})
        return roots

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, decrypted, or None."""
        return self._cipher.decrypt(self._base.get(table, key))

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of rows that claim an index entry; no index is made of a sensitive value."""
        return self._base.find(index, entry, head)

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group."""
        return self._base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return all keys of a table."""
        return self._base.keys(table)

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the keys or entries of an order from `low` on and below `high`, up or down."""
        return self._base.walk(order, low, high, reverse=reverse)
