"""Id schemes of other packages: installed, broken, and missing on a node; plug-ins of any kind that can't be used."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from treaty.assemble import connect
from treaty.core.messages.groups import GroupSettings
from treaty.core.refusals import InvalidSchema, NotPermitted
from treaty.formats import id_schemes, registry
from treaty.formats.id_schemes import find_id_schemes
from treaty.formats.registry import find_formats
from treaty.formats.validators import registry as validators
from treaty.formats.validators.registry import find_validators

PLUG_IN = """
def scheme(one):
    return f"{one.format}-{one.type_name}-{len(one.sent)}"

def broken(one):
    raise ValueError("not today")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An installed package with two id schemes; undone, it is not installed any more."""
    (tmp_path / "acme_ids.py").write_text(PLUG_IN)
    info = tmp_path / "acme_ids-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ids\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[treaty.id_schemes]\nacme = acme_ids:scheme\nbroken = acme_ids:broken\n")
    with monkeypatch.context() as installed:
        installed.syspath_prepend(str(tmp_path))
        yield installed
    sys.modules.pop("acme_ids", None)


def test_a_package_names_versions_and_a_node_without_it_refuses_them(
    package: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as first:
        first.create_subject("g", GroupSettings("treaty", schemes=("acme", "md5")))
        first.create_subject("b", GroupSettings("treaty", schemes=("broken",)))
        made = first.register("g", '{"type": "enum", "name": "E", "symbols": ["A"]}').version
        assert dict(made.names)["acme"] == f"AVRO-E-{len(made.text.replace(':', ': ').replace(',', ', '))}"
        assert first.version("g", dict(made.names)["acme"]).number == 1
        with pytest.raises(InvalidSchema, match="not today"):
            first.register("b", '"int"')

    package.undo()
    with connect(url) as second:
        assert second.named_version("g", dict(made.names)["acme"]).number == 1
        with pytest.raises(NotPermitted, match="acme") as refused:
            second.register("g", '{"type": "enum", "name": "E", "symbols": ["A", "B"]}')
        assert refused.value.reason.rule == "ID_SCHEME_MISSING"
        assert refused.value.reason.allowed == "a node with the package acme-ids"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("gone_module:thing", "can't be imported: No module named 'gone_module'"),
        ("acme_ids:gone", "can't be imported: module 'acme_ids' has no attribute 'gone'"),
        ("acme_ids:PLAIN", "is no "),
    ],
)
@pytest.mark.parametrize(
    ("group", "load"),
    [
        (registry.GROUP, lambda: find_formats().find("acme")),
        (validators.GROUP, lambda: find_validators().find("acme")),
        (id_schemes.GROUP, lambda: find_id_schemes().plugins.find("acme")),
    ],
    ids=["format", "validator", "id scheme"],
)
def test_a_plug_in_that_can_not_be_used_is_named_with_its_package(
    group: str, load: Callable[[], object], place: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_ids.py").write_text("PLAIN = 7\n")
    info = tmp_path / "acme_ids-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ids\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nacme = {place}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match=rf"of the package acme-ids.*{reason}"):
        load()
    sys.modules.pop("acme_ids", None)
