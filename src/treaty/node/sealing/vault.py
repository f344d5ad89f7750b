"""`Vault`: seals the sensitive values of rows with AES-SIV, and opens them again.

A value is sealed with its name and nothing that is random, so that every node with the same keys makes the same row of
it. Whoever reads the log sees which values of one name are equal, and how long they are.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace

from treaty.core.refusals import NotPermitted
from treaty.core.rows import Row, Value
from treaty.core.schema import SEALED, Metadata, Pairs
from treaty.core.values import ConfigValue, EncryptionKeyUse, Outcome, Schema
from treaty.core.view import View
from treaty.node.sealing.keys import Key

ABOUT = b"treaty metadata"
OUTCOME = "outcome"
"""The name under which what is remembered of a command is sealed, as a whole."""

Change = Callable[[str, str], str]
"""Makes another value of one, given its name."""


@dataclass(frozen=True, slots=True)
class Vault:
    """Keys: the first one seals, all of them open. Without a key nothing is sealed, and nothing opened."""

    keys: tuple[Key, ...] = ()

    # ------------------------------------------------------------------------------------------------------ rows

    def seal(self, row: Row, view: View) -> tuple[Row, ...]:
        """Return a row as it goes into the log, with the row of the key that sealed it where that is new there.

        Raises `NotPermitted` for sensitive values that this node can't seal although others do, and for ones that look
        sealed already: somebody has read them where their key is missing.
        """
        if row.value is None or not _is_sensitive(row.value):
            return (row,)
        if not self.keys:
            self._refuse_unsealed(row.value, view)
            return (row,)
        sealed = replace(row, value=_changed(row.value, self._sealed))
        if sealed == row:
            return (row,)
        key = ("encryption_key", (self.keys[0].id,))
        return (sealed,) if view.get(*key) is not None else (sealed, Row(*key, EncryptionKeyUse()))

    def open(self, value: Value | None) -> Value | None:
        """Return the value of a row as the law knows it; what no key here opens stays sealed."""
        if value is None or not _is_sensitive(value):
            return value
        return _changed(value, self._opened)

    def missing(self, view: View) -> tuple[str, ...]:
        """Return ids of keys that sealed values in this log and are not here."""
        here = {key.id for key in self.keys}
        return tuple(sorted(str(key[0]) for key in view.keys("encryption_key") if key[0] not in here))

    def _refuse_unsealed(self, value: Value, view: View) -> None:
        found: list[str] = []

        def note(name: str, text: str) -> str:
            found.append(name)
            return text

        _changed(value, note)
        used = self.missing(view)
        if found and used:
            raise NotPermitted.of(
                "METADATA_KEY_MISSING",
                f"This node can't write sensitive metadata ({', '.join(found[:5])}): it is sealed with keys that this "
                "node does not have",
                path="/metadata/sensitive",
                old=", ".join(used),
                allowed="a node that was started with --metadata-key-file, or metadata without sensitive properties",
            )

    # ---------------------------------------------------------------------------------------------------- values

    def _sealed(self, name: str, text: str) -> str:
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

    def _opened(self, name: str, text: str) -> str:
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


NO_KEYS = Vault()


# ----------------------------------------------------------------------------------------------- where values stand


def _is_sensitive(value: Value) -> bool:
    """Whether a row may hold a sensitive value; most never do."""
    match value:
        case Schema(metadata=metadata):
            return metadata is not None and bool(metadata.sensitive)
        case ConfigValue(default_metadata=under, override_metadata=over):
            return any(one is not None and one.sensitive for one in (under, over))
        case Outcome(members=members):
            return any(
                name == "answer" and ('"sensitive"' in text or text.startswith(SEALED)) for name, text in members
            )
    return False


def _changed(value: Value, change: Change) -> Value:
    match value:
        case Schema(metadata=Metadata() as metadata):
            return replace(value, metadata=_metadata(metadata, change))
        case ConfigValue(default_metadata=under, override_metadata=over):
            under, over = (one and _metadata(one, change) for one in (under, over))
            return replace(value, default_metadata=under, override_metadata=over)
        case Outcome(members=members):
            return replace(value, members=_pairs(members, frozenset({"answer"}), lambda _, text: change(OUTCOME, text)))
    return value


def _metadata(metadata: Metadata, change: Change) -> Metadata:
    return replace(metadata, properties=_pairs(metadata.properties, frozenset(metadata.sensitive), change))


def _pairs(pairs: Pairs, names: frozenset[str], change: Change) -> Pairs:
    return tuple((name, change(name, text) if name in names else text) for name, text in pairs)
