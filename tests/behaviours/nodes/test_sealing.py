"""Sensitive metadata on a real log: nothing plain on disk, nodes that agree, nodes without a key, keys that change."""

import base64
from pathlib import Path
from typing import cast

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.settings import Config
from treaty.core.refusals import NotPermitted
from treaty.core.schema import SEALED, Draft, Metadata
from treaty.node.embedded import EmbeddedRegistry
from treaty.node.encryption import KeyFileError
from treaty.node.status import Status

V1 = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
V2 = V1.replace("]}", ',{"name":"b","type":"int","default":0}]}')
SECRET = "correct horse battery staple"
HELD = Metadata(properties=(("owner", "ada"), ("token", SECRET)), sensitive=("token",))


def keys(folder: Path, *numbers: int) -> Path:
    file = folder / f"keys-{'-'.join(map(str, numbers))}"
    file.write_text("\n".join(base64.b64encode(bytes([number]) * 64).decode() for number in numbers))
    return file


def status(connection: Connection) -> Status:
    connection.version("orders")  # what is told is of a state that others have written
    return cast("EmbeddedRegistry", connection.registry).node.status()


def on_disk(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.name.startswith("log"))


def test_the_log_holds_no_plain_value_and_nodes_with_the_key_agree(tmp_path: Path) -> None:
    url, file = f"sqlite://{tmp_path / 'log.db'}", keys(tmp_path, 1)
    with connect(url, metadata_keys=file) as one, connect(url, metadata_keys=file) as other:
        made = one.register("orders", Draft(V1, metadata=HELD)).version
        other.set_config("orders", Config(default_metadata=HELD))
        assert other.version("orders").metadata == HELD
        assert one.config("orders").default_metadata == HELD
        assert not other.register("orders", Draft(V1, metadata=HELD)).created
        assert one.find("orders", (("token", SECRET),)) == made
        assert status(one).state_root == status(other).state_root
        assert status(one).sealed_with == ()
        assert SECRET.encode() not in on_disk(tmp_path)
    assert SECRET.encode() not in on_disk(tmp_path)
    assert SEALED.encode() in on_disk(tmp_path)
    with connect(f"sqlite://{tmp_path / 'plain.db'}") as plain:
        assert plain.register("orders", Draft(V1, metadata=HELD)).version.guid == made.guid


def test_a_node_without_the_key_says_so_and_leaves_alone_what_it_cannot_read(tmp_path: Path) -> None:
    url, file = f"sqlite://{tmp_path / 'log.db'}", keys(tmp_path, 1)
    with connect(url, metadata_keys=file) as one, connect(url) as blind:
        one.register("orders", Draft(V1, metadata=HELD))
        (used,) = status(blind).sealed_with
        assert status(blind).state_root == status(one).state_root
        told = blind.version("orders").metadata
        assert told is not None
        assert told.get("owner") == "ada"
        assert str(told.get("token")).startswith(f"{SEALED}{used}:")
        with pytest.raises(NotPermitted, match="can't write sensitive metadata") as inherited:
            blind.register("orders", V2)
        assert inherited.value.reason.old == used
        with pytest.raises(NotPermitted, match="can't write sensitive metadata"):
            blind.register("others", Draft(V2, metadata=HELD))
        assert blind.register("others", V1).created, "what is not sensitive is written"
        assert one.register("orders", V2).version.metadata == HELD


def test_keys_are_changed_by_putting_a_new_one_first(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url, metadata_keys=keys(tmp_path, 1)) as one:
        one.register("orders", Draft(V1, metadata=HELD))
    with connect(url, metadata_keys=keys(tmp_path, 2, 1)) as one:
        assert one.version("orders", 1).metadata == HELD
        one.register("orders", Draft(V2, metadata=HELD))
        assert not one.register("orders", Draft(V1, metadata=HELD)).created
    with connect(url, metadata_keys=keys(tmp_path, 1, 2)) as one:
        assert one.version("orders", 1).metadata == one.version("orders", 2).metadata == HELD
    with connect(url, metadata_keys=keys(tmp_path, 2)) as one:
        assert one.version("orders", 2).metadata == HELD
        assert len(status(one).sealed_with) == 1
        assert one.version("orders", 1).metadata != HELD
        with pytest.raises(NotPermitted, match="no key of this node opens"):
            one.derive("orders", 1)


def test_a_file_without_a_key_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="there is no key"):
        connect("memory:", metadata_keys=keys(tmp_path))
