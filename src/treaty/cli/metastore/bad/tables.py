"""The tables of bad rows that a name means: of a source, of what a query reads, of a pipeline, or of all sources."""

from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.metastore.queries.watch import read_feed
from treaty.cli.terminal.options import Decorator
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.core.column_types.tokens import print_name
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.sources import Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.bad_rows import REPLAY_LOG, RESULTS, name_bad_folder
from treaty.plan.rows import SOURCE_COLUMNS, BadRowColumns, BadRowFilter

if TYPE_CHECKING:
    from treaty.cli.pipeline.description import PipelineDescription

DATA = "data"
"""The root of files below the shared root of runners, where none is named."""
PIPELINE = ".toml"
"""How the file of a pipeline ends."""
ROOT_OPTIONS = (
    click.option("--files", envvar="TREATY_FILES", metavar="ROOT", type=click.Path(exists=True, file_okay=False, path_type=Path),
                 help="The root of the folders that PATH names, where bad rows are in the folder _bad. By default data below SHARED."),
    click.option("--root", metavar="SHARED", envvar="TREATY_RUNNER_ROOT", type=click.Path(exists=True, file_okay=False, path_type=Path),
                 help="The folder that all runners of this registry share."),
)  # fmt: skip
FILTERS = (
    click.option("--reason", "reasons", multiple=True, metavar="CODE",
                 help="Only rows of this reason, such as UNKNOWN_ID or MALFORMED. Repeatable."),
    click.option("--schema-id", type=int, metavar="N", help="Only rows with this schema id in their bytes."),
)  # fmt: skip


def add_options(*options: Decorator) -> Decorator:
    """Add several options to a command, in this order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return wraps(add)(add)


@dataclass(frozen=True, slots=True)
class BadTable:
    """A table of bad rows: the name that people know it by, the source or pipeline whose rows they are, and where it is.

    `bad` is the stream of bad rows of a source, `described` the pipeline in the file `origin`; one of them is there.
    """

    name: str
    origin: str
    columns: BadRowColumns
    folder: Path = Path()
    bad: Source | None = None
    described: "PipelineDescription | None" = None

    @property
    def results(self) -> Path:
        """The folder of what became of the rows."""
        return Path(f"{self.folder}{RESULTS}")

    def list_unfinished(self) -> list[int]:
        """Return the numbers of the replays that have begun and are not over."""
        log = Path(f"{self.folder}{REPLAY_LOG}")
        begun = {int(one.stem) for one in log.glob("*.json") if one.stem.isdecimal()}
        return sorted(begun - {int(one.stem) for one in log.glob("*.done") if one.stem.isdecimal()})


def is_pipeline(name: str) -> bool:
    """Whether a name is the file of a pipeline."""
    return name.endswith(PIPELINE)


def find_root(files: Path | None, root: Path | None) -> Path:
    """Return the root of files. Raises `UnusableError` where none is named."""
    if files is None and root is None:
        raise UnusableError(
            "bad rows are files below the root of the runners: name it by --files ROOT, or by --root SHARED"
        )
    return files.resolve() if files is not None else (root or Path()).resolve() / DATA


def find_tables(client: Connection, name: str, root: Path) -> list[BadTable]:
    """Return the tables of bad rows of a source, of the sources that a query reads, or of all sources without a name. Raises `UnusableError`."""
    queries, _ = read_feed(client)
    streams = [one.source for one in queries if one.source.query is None and one.source.origin]
    if name:
        source = client.ask(DescribeSource(name)).answer.source
        source_keys = {key_of_name(source.name)}
        if source.query is not None:
            source_keys |= {key_of_name(read.source) for read in source.query.plan.reads}
        streams = [one for one in streams if source_keys & {key_of_name(one.name), key_of_name(one.origin)}]
        if not streams:
            raise UnusableError(_explain_none(source), "NO_BAD_ROWS")
    return [BadTable(one.name, one.origin, SOURCE_COLUMNS, _find_folder(one, root), one) for one in streams]


def _find_folder(bad: Source, root: Path) -> Path:
    folder = (root / name_bad_folder(bad).lstrip("/")).resolve()
    if not folder.is_relative_to(root):
        raise UnusableError(f"the folder {bad.place} of {bad.name} is not below {root}", "PATH_OUTSIDE")
    return folder


def _explain_none(source: Source) -> str:
    if source.query is not None:
        names = ", ".join(print_name(read.source) for read in source.query.plan.reads)
        return f"{source.name} reads {names}, and none of these keeps its bad rows: CREATE OR REPLACE one of them WITH (BAD_ROWS = true)"
    return f"{source.name} does not keep its bad rows: CREATE OR REPLACE it WITH (BAD_ROWS = true)"


def describe_pipeline(file: str) -> BadTable:
    """Return the table of bad rows of a pipeline. Raises `UnusableError`."""
    from treaty.cli.pipeline.context import read_file  # noqa: PLC0415 (loads Spark, which other names do not need)
    from treaty.cli.spark import needs_spark  # noqa: PLC0415 - as above

    with needs_spark():
        described = read_file(Path(file))
    kept_columns = described.pipeline.keep
    places: dict[str, str] = {name: name for name in ("topic", "partition", "offset") if name in kept_columns}
    columns = BadRowColumns(
        places or {name: name for name in kept_columns}, "timestamp" if "timestamp" in kept_columns else ""
    )
    return BadTable(described.pipeline.bad_table.place, file, columns, described=described)


def has_rows(folder: Path) -> bool:
    """Whether a table of bad rows is in a folder: it is made by the first bad row."""
    return any((folder / "_delta_log").glob("*.json"))


def may_have_rows(table: BadTable) -> bool:
    """Whether a pipeline's table of bad rows is there; true where it is not one Delta table on a disk of this machine."""
    from treaty.spark.lake.local_files import NeedsSparkError, find_local_folder  # noqa: PLC0415 (loads Spark's tables)
    from treaty.spark.pipelines.value import TOPIC  # noqa: PLC0415 - as above

    assert table.described is not None, "another table is looked for by `has_rows`"
    bad_table = table.described.pipeline.bad_table
    if bad_table.format != "delta" or TOPIC in bad_table.place:
        return True
    try:
        return has_rows(find_local_folder(bad_table.place))
    except NeedsSparkError:
        return True


def make_filter(reasons: tuple[str, ...], schema_id: int | None, since: str = "") -> BadRowFilter:
    """Return the filter that options say. Raises `click.BadParameter` for a time that is none."""
    if not since:
        return BadRowFilter(tuple(one.upper() for one in reasons), schema_id)
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        message = f"{since!r} is no time in ISO 8601, such as 2026-11-29T08:00:00Z"
        raise click.BadParameter(message, param_hint="--since") from error
    return BadRowFilter(tuple(one.upper() for one in reasons), schema_id, moment.astimezone())
