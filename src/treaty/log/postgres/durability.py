"""Settings of a server with which a crash loses confirmed commits: they are raised, refused, or warned of."""

import logging

from asyncpg import Connection

from treaty.log.log import LogUnavailableError

JOURNAL = logging.getLogger("treaty.log.postgres")

NOT_DURABLE = "durable=no"
"""In a URL: take a server with ``fsync = off`` too."""

LOCK_DURABLY = """
select pg_advisory_xact_lock($1, $2),
       case when current_setting('synchronous_commit') in ('off', 'local')
            then set_config('synchronous_commit', 'on', true) end
"""
"""Take the lock of the log; from here to its end the transaction is one that waits for the disk, and for standbys where
the server names some. Stronger settings stay, and so does the session's own.

The setting is looked at in each transaction, because a reload of the server's configuration changes it under a
connection.
"""

SETTINGS = (
    "select current_setting('fsync', true) as fsync, current_setting('full_page_writes', true) as full_page_writes"
)

NO_FSYNC = (
    "{} runs with fsync = off: when its machine crashes, confirmed commits are lost and tables may be damaged. Set "
    f"fsync = on and reload the server, or allow it with {NOT_DURABLE} in the log's URL"
)
NO_FSYNC_ALLOWED = (
    "%s runs with fsync = off, which its URL allows: when its machine crashes, confirmed commits are lost and tables may "
    "be damaged"
)
NO_FULL_PAGES = (
    "%s runs with full_page_writes = off: a page that a crash leaves half written damages the log, unless the file "
    "system writes pages as a whole. Set full_page_writes = on and reload the server"
)


class NotDurableError(LogUnavailableError):
    """The server may lose confirmed commits, and the URL does not allow that."""


class DurabilityCheck:
    """What a server's settings promise of its commits, asked of each new connection; warnings are said once."""

    def __init__(self, where: str, *, durable: bool) -> None:
        """`where` names the server in messages; `durable` refuses a server that does not write to its disk."""
        self._where = where
        self._durable = durable
        self._warned: set[str] = set()

    async def check(self, connection: Connection) -> None:
        """Raise `NotDurableError` where confirmed commits may be lost and the URL does not allow that."""
        row = await connection.fetchrow(SETTINGS)
        if row["fsync"] == "off":
            if self._durable:
                raise NotDurableError(NO_FSYNC.format(self._where))
            self._warn(NO_FSYNC_ALLOWED)
        if row["full_page_writes"] == "off":
            self._warn(NO_FULL_PAGES)

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            JOURNAL.warning(message, self._where)
