"""The import contracts name everything that is built: a new room, format, dialect or backend has to be put in."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREATY = ROOT / "src" / "treaty"
CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}


def built(*names: str) -> set[str]:
    """Which of these rooms and modules (dots for folders) exist."""
    paths = {name: TREATY.joinpath(*name.split(".")) for name in names}
    return {f"treaty.{name}" for name, path in paths.items() if path.is_dir() or path.with_suffix(".py").exists()}


def folders(room: str) -> set[str]:
    """The folders in a room, as modules."""
    return {f"treaty.{room}.{path.parent.name}" for path in (TREATY / room).glob("*/__init__.py")}


CLIENT_SIDE = built("arrow", "client", "metastore", "plan", "spark")
SERVER_SIDE = built("node", "log", "api", "web")
BACKENDS = built("log.memory", "log.sqlite", "log.postgres", "log.kafka")


@pytest.mark.parametrize(
    ("contract", "member", "expected"),
    [
        ("perforation", "source_modules", CLIENT_SIDE),
        ("perforation", "forbidden_modules", SERVER_SIDE),
        (
            "formats",
            "modules",
            folders("formats") - {"treaty.formats.logical", "treaty.formats.validators"},
        ),  # what all of them speak
        (
            "dialects",
            "modules",
            folders("api") - {"treaty.api.dialects", "treaty.api.network", "treaty.api.openapi"}
            | built("api.native", "api.peer"),
        ),  # below and above them
        ("backends", "modules", BACKENDS),
    ],
    ids=["client side", "server side", "formats", "dialects", "backends"],
)
def test_what_is_built_is_in_its_contract(contract: str, member: str, expected: set[str]) -> None:
    # One alone has nobody to be independent of.
    if contract in {"formats", "dialects", "backends"} and len(expected) < 2:
        assert contract not in CONTRACTS
    else:
        assert set(CONTRACTS[contract][member]) == expected


def test_no_two_rooms_share_a_layer_by_mistake() -> None:
    layers = CONTRACTS["rooms"]["layers"]
    named = [name.strip(" ()") for layer in layers for name in layer.split("|")]

    assert CONTRACTS["rooms"]["exhaustive"] is True
    assert len(named) == len(set(named)) == 18
    assert named[0] == "cli"
    assert named[-4:] == ["core", "names", "light_dataclass", "distribution"]
