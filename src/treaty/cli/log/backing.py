"""`treaty log backup`: a copy of a SQLite log's file, made while nodes write."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

from treaty.cli.log.opened import log, run
from treaty.cli.nouns.asking import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.cli.transfer.ends import bar
from treaty.core.state.commit import Position
from treaty.log.maintenance.backup import write_backup


@click.command("backup")
@log
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@as_json
def backup(*, log: str, file: Path, as_json: bool) -> None:
    """Copy the file of a SQLite LOG to a FILE: one consistent state, page by page. Nodes go on meanwhile.

    It takes the time that the disk takes, and no memory. The FILE is no log: `treaty log restore` makes one of it, with an
    identity of its own. For other logs, and to carry one elsewhere, see `treaty log dump`.

    \b
    Examples:
      treaty log backup sqlite:///var/lib/treaty/log.db /backup/registry.db
      treaty log verify /backup/registry.db
      treaty log restore /backup/registry.db sqlite:///var/lib/treaty/new.db
    """  # noqa: D301 - click wants the control character
    parts = urlsplit(log)
    source = Path(unquote(parts.path))
    if parts.scheme != "sqlite":
        raise UnusableError("only the file of a SQLite log can be copied; for others there is `treaty log dump`")
    if not source.exists():
        raise UnusableError(f"{log}: there is no such file; name a log as `treaty serve --log` takes it")

    async def work() -> Position:
        with bar() as told:
            return write_backup(source, file, lambda done, of: told("pages", done, of))

    place = run(work)
    size = file.stat().st_size
    if as_json:
        told = {"file": str(file), "bytes": size, "identity": place.identity.hex(), "sequence": place.sequence}
        screen.say_json(told)
    else:
        screen.say(f"sequence {place.sequence:,} of log {place.identity.hex()}, {size:,} bytes, to {file}", "green")
