"""What a PostgreSQL schema that holds a log looks like inside, and how one is made, recognised and brought up to date."""

from asyncpg import Connection

from treaty.log.log import LogDamagedError

LAYOUT = 1
"""The newest layout of the tables that this version knows."""
LOCK_CLASS = 0x54525459
"""First half of the advisory lock's key, `TRTY`; the second half is made of the schema's name."""

MIGRATIONS: tuple[str, ...] = (
    """
    create table entry (
      kind bytea not null,      -- the state table
      key bytea not null,       -- canonical JSON; bytes, because JSON can carry half characters and text can't
      value bytea,              -- canonical JSON; null is a tombstone
      sequence bigint not null, -- of the append's end that last changed it
      primary key (kind, key)
    );
    create index entry_by_sequence on entry (sequence);
    create index tombstone on entry (sequence) where value is null;
    create table append (
      last bigint primary key,
      first bigint not null,
      identity bytea not null,
      attempt bytea not null,
      digest bytea not null
    );
    """,
)
"""What leads from each layout to the next one; the first makes the tables."""


TIP = "select identity, last, digest from append order by last desc limit 1"
SINCE = """
with tip as (select identity, last, digest from append order by last desc limit 1),
known as (select exists(select from append where last = $1 and identity = $2 and digest = $3) as known)
select tip.identity, tip.last, tip.digest, known.known, entry.kind, entry.key, entry.value
from known left join tip on true left join entry on known.known and entry.sequence > $1
"""
"""The tip, whether a place is remembered, and what came after it if so: one row at least, in one cut."""
LIVE = "select kind, key, value from entry where value is not null"
WRITE = """
with tip as (select identity, last, digest from append order by last desc limit 1),
fits as (
  select from (select $5::bigint as first, $6::bytea as identity, $9::bytea as parent, $10::bytea as none) as new
  left join tip on true
  where new.first = coalesce(tip.last, 0) + 1 and new.parent = coalesce(tip.digest, new.none)
    and new.identity = coalesce(tip.identity, new.identity)
), put as (
  insert into entry (kind, key, value, sequence)
  select kind, key, value, $4 from fits, unnest($1::bytea[], $2::bytea[], $3::bytea[]) as row (kind, key, value)
  on conflict (kind, key) do update set value = excluded.value, sequence = excluded.sequence
), note as (
  insert into append (last, first, identity, attempt, digest) select $4, $5, $6, $7, $8 from fits returning last
)
select pg_notify($11, '') from note
"""
"""Write an append if its parent is the tip; a row where it was, none where it was not."""
FORGET = """
delete from append where last in (
  select last from append where last <= (select last from append order by last desc limit 1 offset $1)
  order by last limit $2)
"""
SWEEP = """
delete from entry where ctid = any(array(
  select ctid from entry where value is null and sequence <= (select min(last) from append) limit $1))
"""
FACTS = """
select (select pg_total_relation_size('entry') + pg_total_relation_size('append')),
       (select count(*) from entry where value is not null), (select count(*) from entry where value is null),
       (select count(*) from append), (select coalesce(min(last), 0) from append)
"""
"""Bytes, live rows, tombstones, appends, oldest append."""


async def prepare(connection: Connection, name: str, key: int) -> None:
    """Recognise the schema as a log, make a log of an empty one, or bring an older one up to date; others wait.

    From then on the connection sees this schema alone. Raises `LogDamagedError` for what is no log, or a newer one, and
    leaves it as it is.
    """
    if await _layout(connection, name) != LAYOUT:
        async with connection.transaction():
            await connection.execute("select pg_advisory_xact_lock($1, $2)", LOCK_CLASS, key)
            found = await _layout(connection, name)
            await _run(connection, "create schema if not exists %I", name)
            await _look_at(connection, name, local=True)
            for step in range(found, LAYOUT):
                await connection.execute(MIGRATIONS[step])
            await _run(connection, f"comment on schema %I is 'treaty log, layout {LAYOUT}'", name)
    await _look_at(connection, name)


async def _run(connection: Connection, statement: str, name: str) -> None:
    """Run a statement with a name in the place of ``%I``, written by the server's own rules."""
    await connection.execute(await connection.fetchval("select format($1, $2::text)", statement, name))


async def _look_at(connection: Connection, name: str, *, local: bool = False) -> None:
    await connection.execute("select set_config('search_path', quote_ident($1), $2)", name, local)


async def _layout(connection: Connection, name: str) -> int:
    """The layout that a schema says it has; 0 where it is not there, or empty."""
    row = await connection.fetchrow(
        """
        select obj_description(space.oid, 'pg_namespace') as told,
               (select count(*) from pg_class where relnamespace = space.oid and relkind = 'r') as tables,
               (select count(*) from pg_class where relnamespace = space.oid and relname in ('entry', 'append')) as ours
        from pg_namespace as space where nspname = $1
        """,
        name,
    )
    if row is None:
        return 0
    told: str = row["told"] or ""
    if told.startswith("treaty log, layout "):
        layout = int(told.rpartition(" ")[2])
        if layout > LAYOUT:
            raise LogDamagedError(f"schema {name} has layout {layout}, known here is {LAYOUT}: upgrade this node")
        if row["ours"] != 2:
            raise LogDamagedError(f"schema {name} has lost its tables: stop all nodes and restore a backup")
        return layout
    if row["tables"]:
        raise LogDamagedError(f"schema {name} holds somebody else's tables: name another with ?schema=…")
    return 0
