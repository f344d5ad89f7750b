"""The list of jars that a session of Spark starts with: it is what Ivy found, whole, or there is none."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from treaty.spark import jars as spark_jars
from treaty.spark.jars import PackageJar, packages

WANTED = packages(delta=False)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A folder of Ivy's with the jar of each package, and one that they need."""
    folder = tmp_path / "jars"
    folder.mkdir()
    monkeypatch.setattr(spark_jars, "IVY_JARS", folder)
    found = [folder / spark_jars.jar_name(one) for one in WANTED.coordinates] + [folder / "org.tukaani_xz-1.10.jar"]
    for one in found:
        with ZipFile(one, "w") as jar:
            jar.writestr("org/Some.class", b"class")
    with ZipFile(found[0], "a") as jar:
        jar.writestr("some/tables.py", b"")
    return found


def test_what_was_found_is_kept_for_these_packages_alone(jars: list[Path], tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    assert spark_jars.read_jar_list(WANTED, lists) == ()

    spark_jars.write_jar_list(WANTED, [*map(str, jars), "/elsewhere/mine.jar"], lists)

    assert spark_jars.read_jar_list(WANTED, lists) == tuple(PackageJar(str(one), one == jars[0]) for one in jars)
    assert spark_jars.read_jar_list(packages(), lists) == ()
    assert [one.suffix for one in lists.iterdir()] == [".txt"]


@pytest.mark.parametrize("harm", [Path.unlink, lambda jar: jar.write_bytes(b"half a jar")], ids=["gone", "other size"])
def test_a_jar_that_is_not_as_it_was_fetched_makes_the_list_void(
    harm: object, jars: list[Path], tmp_path: Path
) -> None:
    spark_jars.write_jar_list(WANTED, [*map(str, jars)], tmp_path / "lists")

    harm(jars[-1])  # type: ignore[operator] # a deed on a path

    assert spark_jars.read_jar_list(WANTED, tmp_path / "lists") == ()


def test_a_list_without_one_of_the_packages_is_not_kept(jars: list[Path], tmp_path: Path) -> None:
    spark_jars.write_jar_list(WANTED, [str(jars[-1])], tmp_path / "lists")

    assert spark_jars.read_jar_list(WANTED, tmp_path / "lists") == ()


def test_a_list_that_is_no_list_is_not_taken(jars: list[Path], tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    spark_jars.write_jar_list(WANTED, [*map(str, jars)], lists)
    (one,) = lists.iterdir()
    one.write_text("nonsense", "utf-8")

    assert spark_jars.read_jar_list(WANTED, lists) == ()

    one.write_text("", "utf-8")

    assert spark_jars.read_jar_list(WANTED, lists) == ()
