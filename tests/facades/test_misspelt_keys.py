"""A misspelt key in any file of settings is refused, and the message says which one is meant."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.facades.test_pipeline_commands import SMALL
from treaty.api.auth.authentication import open_authentication
from treaty.api.auth.watched_file import AuthFileError
from treaty.cli.iglu.load import _read_file
from treaty.cli.pipeline.description import read_description
from treaty.cli.pipeline.description_table import DescriptionError
from treaty.cli.schemas.lint_settings import find_lint_settings
from treaty.cli.terminal.source import UnusableError
from treaty.cli.transfer.folder import read_folder
from treaty.client.iglu import ResolverConfigError, load_resolver_config
from treaty.formats.registry import find_formats

EVENTS = """
checkpoint = "c"
registries = ["http://127.0.0.1:1/api"]
[source.files]
path = "in"
[good]
place = "good"
[bad]
place = "bad"
"""
RIGHTS = '[basic]\nfile = "passwords"\n[[rule]]\nwho = ["*"]\nmay = ["read"]\n'
PLAN = '[plan]\nlevel = "BACKWARD"\n[plan.subjects.orders-value]\nfile = "order.avsc"\nlevel = "FULL"\n'
LINT = '[lint]\nrules = ["all"]\nignore = ["old/*"]\n'
RESOLVER = json.dumps(
    {
        "schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-3",
        "data": {
            "cacheSize": 500,
            "cacheTtl": 600,
            "repositories": [
                {"name": "a", "priority": 0, "vendorPrefixes": [], "connection": {"http": {"uri": "http://h/api", "apikey": None}}}
            ],
        },
    }
)  # fmt: skip


def read_pipeline(text: str, folder: Path) -> None:
    (folder / "p.toml").write_text(text)
    read_description(folder / "p.toml", {})


def read_events(text: str, folder: Path) -> None:
    (folder / "p.toml").write_text(text)
    _read_file(folder / "p.toml")


def read_rights(text: str, folder: Path) -> None:
    (folder / "rights.toml").write_text(text)
    (folder / "passwords").write_text("")
    open_authentication(folder / "rights.toml")


def read_plan(text: str, folder: Path) -> None:
    (folder / "treaty.toml").write_text(text)
    read_folder(str(folder), find_formats())


def read_lints(text: str, folder: Path) -> None:
    (folder / "treaty.toml").write_text(text)
    find_lint_settings(str(folder / "order.avsc"), find_formats(), {})


def read_resolver(text: str, folder: Path) -> None:
    (folder / "resolver.json").write_text(text)
    load_resolver_config(folder / "resolver.json")


CASES: list[tuple[Callable[[str, Path], None], str, str, str]] = [
    (read_pipeline, SMALL, 'path = "in"', 'pth = "in"'),
    (read_pipeline, SMALL, 'schema = "value BINARY"', 'shema = "value BINARY"'),
    (read_pipeline, SMALL, "[source.files]", "[source.file]"),
    (read_pipeline, SMALL, "[good]", "[godo]"),
    (read_pipeline, SMALL, 'subject = "s"', 'reader = "union"\nSubject = "s"'),
    (read_pipeline, SMALL, 'subject = "s"', 'readr = "union"\nsubject = "s"'),
    (read_pipeline, SMALL, 'place = "bad"', 'place = "bad"\nformt = "delta"'),
    (read_pipeline, SMALL, "[good]", '[trigger]\nknd = "once"\n[good]'),
    (read_pipeline, SMALL, "[good]", '[spark]\nmemroy = "2g"\n[good]'),
    (read_pipeline, SMALL, "[good]", "[patience]\ntrys = 3\n[good]"),
    (read_events, EVENTS, 'checkpoint = "c"', 'chekpoint = "c"'),
    (read_events, EVENTS, "registries =", "registrys ="),
    (read_events, EVENTS, 'checkpoint = "c"', 'checkpoint = "c"\nbad-rows = "snowplow"'),
    (read_events, EVENTS, "[good]", '[trigger]\nevry = "1 second"\n[good]'),
    (read_rights, RIGHTS, 'may = ["read"]', 'may = ["read"]\nsubject = ["a"]'),
    (read_rights, RIGHTS, 'may = ["read"]', 'may = ["read"]\ncontext = ["a"]'),
    (read_plan, PLAN, "level =", "levle ="),
    (read_plan, PLAN, 'level = "FULL"', "normalise = true"),
    (read_plan, PLAN, "[plan]", "[plna]\n[plan]"),
    (read_plan, PLAN, "[plan]", "[lints]\n[plan]"),
    (read_lints, LINT, "ignore =", "ignores ="),
    (read_lints, LINT, "rules =", "rule ="),
    (read_lints, LINT, "[lint]", "[plans]\n[lint]"),
    (read_resolver, RESOLVER, '"cacheTtl"', '"cacheTTL"'),
    (read_resolver, RESOLVER, '"cacheSize"', '"cachesize"'),
    (read_resolver, RESOLVER, '"vendorPrefixes"', '"vendorPrefix"'),
    (read_resolver, RESOLVER, '"apikey"', '"apiKey"'),
    (read_resolver, RESOLVER, '"uri"', '"url"'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "right", "wrong"), CASES, ids=[f"{one[0].__name__}-{one[3]!r}" for one in CASES]
)
def test_a_misspelt_key_is_named_with_the_right_one(
    read: Callable[[str, Path], None], text: str, right: str, wrong: str, tmp_path: Path
) -> None:
    assert right in text
    with pytest.raises((UnusableError, DescriptionError, AuthFileError, ResolverConfigError)) as caught:
        read(text.replace(right, wrong, 1), tmp_path)
    assert "did you mean" in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("read", "text"),
    [(read_events, EVENTS), (read_rights, RIGHTS), (read_plan, PLAN), (read_lints, LINT), (read_resolver, RESOLVER)],
)
def test_the_right_keys_are_read(read: Callable[[str, Path], None], text: str, tmp_path: Path) -> None:
    read(text, tmp_path)


@pytest.mark.parametrize(
    ("read", "text"), [(read_pipeline, f"{'x' * 100_000} = 1\n{SMALL}"), (read_lints, f"[lint]\n{'x' * 100_000} = 1\n")]
)
def test_a_key_that_is_like_none_lists_all(read: Callable[[str, Path], None], text: str, tmp_path: Path) -> None:
    with pytest.raises((UnusableError, DescriptionError), match=r"allowed are|known are") as caught:
        read(text, tmp_path)
    assert "did you mean" not in str(caught.value)
