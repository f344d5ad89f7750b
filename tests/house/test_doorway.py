"""The names that `from treaty import …` offers: each is loaded when it is used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import treaty
from treaty import assemble
from treaty.names import MODULES, PACKAGES, PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_the_one_of_its_module(name: str) -> None:
    assert getattr(treaty, name) is getattr(importlib.import_module(PUBLIC[name]), name)
    assert name in dir(treaty)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(treaty.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))  # the imports of `if TYPE_CHECKING`
    seen = {one.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for one in node.names}

    assert seen == {name: module for module, names in MODULES.items() for name in names} | dict.fromkeys(
        PACKAGES, "treaty"
    )
    assert treaty.__all__ == list(PUBLIC)


def test_connecting_is_the_way_in() -> None:
    assert treaty.connect is assemble.connect
    assert treaty.connect_async is assemble.connect_async


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'disconnect'"):
        _ = treaty.disconnect  # type: ignore[attr-defined]


def test_a_registry_for_tests_is_at_hand() -> None:
    program = "import treaty; print(treaty.testing.TreatyRegistry.__module__)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "treaty.testing.registry"


@pytest.mark.parametrize(
    ("package", "library", "extra"), [("spark", "pyspark", "spark"), ("arrow", "pyarrow", "arrow")]
)
def test_a_missing_extra_is_named(package: str, library: str, extra: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import treaty.{package}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert run.stderr.endswith(f"treaty.{package} needs {library}: pip install 'treaty-registry[{extra}]'\n")


@pytest.mark.parametrize(
    "module",
    [
        "treaty",
        "treaty.testing.plugin",
        "treaty.client.http_registry",
        "treaty.client.async_http_registry",
        "treaty.client.serializers.avro",
        "treaty.core.decide",
    ],
)
def test_the_client_side_loads_no_server_and_no_spark(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & {"starlette", "uvicorn", "pyspark", "prometheus_client", "sqlite3"}
