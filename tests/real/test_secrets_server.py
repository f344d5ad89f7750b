"""Servers that encrypt sensitive metadata, as processes of their own over one file."""

import base64
from pathlib import Path

import pytest

from tests.real.running import serving, start
from treaty.assemble import connect
from treaty.core.refusals import Incompatible, NotPermitted
from treaty.core.schema import SEALED, Draft, Metadata

SECRET = "correct horse battery staple"
HELD = Metadata(properties=(("owner", "ada"), ("token", SECRET)), sensitive=("token",))


def keys(folder: Path, *numbers: int) -> Path:
    file = folder / "keys"
    file.write_text("\n".join(base64.b64encode(bytes([number]) * 64).decode() for number in numbers))
    return file


@pytest.mark.slow
def test_workers_share_the_keys_and_what_is_on_disk_holds_no_secret(tmp_path: Path) -> None:
    url, file = f"sqlite://{tmp_path / 'log.db'}", keys(tmp_path, 1)
    seeing = ("--log", url, "--metadata-key-file", str(file), "--incompatible-code", "409", "--workers", "2")
    with serving(tmp_path, *seeing) as server, serving(tmp_path, "--log", url) as blind:
        with connect(server.base) as one, connect(blind.base) as other:
            for number in range(8):
                made = one.register(f"s{number}", Draft('"int"', metadata=HELD)).version
                assert made.metadata == one.version(f"s{number}").metadata == HELD
            with pytest.raises(Incompatible):  # 409, which our own client understands as well
                one.register("s1", '"string"')
            told = other.version("s1").metadata
            assert told is not None
            assert str(told.get("token")).startswith(SEALED)
            with pytest.raises(NotPermitted, match="can't write sensitive metadata"):
                other.register("new", Draft('"long"', metadata=HELD))
        seen, unseen = (one.get("/status")["node"] for one in (server, blind))
        assert seen["state_root"] == unseen["state_root"]
        assert (len(seen["sealed_with"]), len(unseen["sealed_with"])) == (0, 1)
        assert all(SECRET.encode() not in one.read_bytes() for one in tmp_path.glob("log.db*"))
    assert all(SECRET.encode() not in one.read_bytes() for one in tmp_path.glob("log.db*"))


def test_a_server_does_not_start_without_its_keys(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the key file cannot be read"):
        start(tmp_path, "--log", "memory:", "--metadata-key-file", str(tmp_path / "nothing"))
