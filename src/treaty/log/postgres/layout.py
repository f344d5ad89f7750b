"""The layout of a log in a PostgreSQL schema: how it is created, recognised and upgraded."""

from asyncpg import Connection

from treaty.log.log import LogDamagedError

LAYOUT = 1
"""The newest layout of the tables that this version knows."""
LOCK_CLASS = 0x54525459
"""First half of the advisory lock's key, `TRTY`; the second half is made of the schema's name."""

MIGRATIONS: tuple[str, ...] = (
    """
    create table state_row (
      state_table bytea not null,
      key bytea not null,       -- canonical JSON; bytes, because JSON can carry half characters and text can't
      value bytea,              -- canonical JSON; null is a tombstone
      sequence bigint not null, -- of the append's end that last changed it
      primary key (state_table, key)
    );
    create index state_row_by_sequence on state_row (sequence);
    create index tombstone on state_row (sequence) where value is null;
    create table log_append (
      last bigint primary key,
      first bigint not null,
      identity bytea not null,
      attempt bytea not null,
      digest bytea not null,
      root bytea not null       -- the state root after it, 32 bytes
    );
    create table table_root (
      state_table bytea primary key,
      root bytea not null       -- what the table adds to the state root of the last append, 32 bytes
    ) with (fillfactor = 50);
    """,
)
"""What makes the tables of the first layout, and what leads from each layout to the next one."""


TIP = "select identity, last, digest, root from log_append order by last desc limit 1"
SINCE = """
with tip as (select identity, last, digest, root from log_append order by last desc limit 1),
known as (
  select exists(select from log_append where last = $1 and identity = $2 and digest = $3 and root = $4) as known
)
select tip.identity, tip.last, tip.digest, tip.root, known.known, state_row.state_table, state_row.key, state_row.value
from known left join tip on true left join state_row on known.known and state_row.sequence > $1
"""
"""The tip, whether a position is remembered, and what came after it if so: one row at least, in one cut."""
LIVE = "select state_table, key, value from state_row where value is not null"
ROOTS = "select state_table, root from table_root"
WRITE = """
with tip as (select identity, last, digest from log_append order by last desc limit 1),
fits as (
  select from (select $5::bigint as first, $6::bytea as identity, $9::bytea as parent, $10::bytea as none) as new
  left join tip on true
  where new.first = coalesce(tip.last, 0) + 1 and new.parent = coalesce(tip.digest, new.none)
    and new.identity = coalesce(tip.identity, new.identity)
), put as (
  insert into state_row (state_table, key, value, sequence)
  select state_table, key, value, $4
  from fits, unnest($1::bytea[], $2::bytea[], $3::bytea[]) as row (state_table, key, value)
  on conflict (state_table, key) do update set value = excluded.value, sequence = excluded.sequence
), put_root as (
  insert into table_root (state_table, root)
  select state_table, root from fits, unnest($13::bytea[], $14::bytea[]) as row (state_table, root)
  on conflict (state_table) do update set root = excluded.root
), cut_root as (
  delete from table_root
  where (state_table = any($15::bytea[]) or $16 and state_table <> all($13)) and exists (select from fits)
), note as (
  insert into log_append (last, first, identity, attempt, digest, root)
  select $4, $5, $6, $7, $8, $12::bytea from fits returning last
)
select pg_notify($11, '') from note
"""
"""Write an append and the table roots that it changes, if its parent is the tip: a row where it was, none where it was
not. Table roots of $15 go, and where $16 all that $13 does not name.
"""
FORGET = """
delete from log_append where last in (
  select last from log_append where last <= (select last from log_append order by last desc limit 1 offset $1)
  order by last limit $2)
"""
SWEEP = """
delete from state_row where ctid = any(array(
  select ctid from state_row where value is null and sequence <= (select min(last) from log_append) limit $1))
"""
STATS = """
select (select sum(pg_total_relation_size(name::regclass))::bigint from unnest($1::text[]) as name),
       (select count(*) from state_row where value is not null), (select count(*) from state_row where value is null),
       (select count(*) from log_append), (select coalesce(min(last), 0) from log_append)
"""
"""Bytes of `TABLES`, live rows, tombstones, appends, oldest append."""
TABLES = ("state_row", "log_append", "table_root")


async def prepare_log(connection: Connection, name: str, key: int) -> None:
    """Recognise the schema as a log, make a log of an empty one, or bring an older one up to date; others wait.

    From then on the connection sees this schema alone. Raises `LogDamagedError` for what is no log, or a newer one, and
    leaves it as it is.
    """
    if await _read_layout(connection, name) != LAYOUT:
        async with connection.transaction():
            await connection.execute("select pg_advisory_xact_lock($1, $2)", LOCK_CLASS, key)
            layout = await _read_layout(connection, name)
            await _run_for_schema(connection, "create schema if not exists %I", name)
            await _set_search_path(connection, name, local=True)
            for step in MIGRATIONS[layout:LAYOUT]:
                await connection.execute(step)
            await _run_for_schema(connection, f"comment on schema %I is 'treaty log, layout {LAYOUT}'", name)
    await _set_search_path(connection, name)


async def _run_for_schema(connection: Connection, statement: str, name: str) -> None:
    """Run a statement with a name in the place of ``%I``, written by the server's own rules."""
    await connection.execute(await connection.fetchval("select format($1, $2::text)", statement, name))


async def _set_search_path(connection: Connection, name: str, *, local: bool = False) -> None:
    await connection.execute("select set_config('search_path', quote_ident($1), $2)", name, local)


async def _read_layout(connection: Connection, name: str) -> int:
    """The layout that a schema says it has; 0 where it is not there, or empty."""
    row = await connection.fetchrow(
        """
        select obj_description(space.oid, 'pg_namespace') as told,
               (select count(*) from pg_class where relnamespace = space.oid and relkind = 'r') as tables,
               (select count(*) from pg_class where relnamespace = space.oid and relname = any($2)) as ours
        from pg_namespace as space where nspname = $1
        """,
        name,
        TABLES,
    )
    if row is None:
        return 0
    comment: str = row["told"] or ""
    if comment.startswith("treaty log, layout "):
        layout = int(comment.rpartition(" ")[2])
        if layout > LAYOUT:
            raise LogDamagedError(f"schema {name} has layout {layout}, known here is {LAYOUT}: upgrade this node")
        if row["ours"] != len(TABLES):
            raise LogDamagedError(f"schema {name} has lost its tables: stop all nodes and restore a backup")
        return layout
    if row["tables"]:
        raise LogDamagedError(f"schema {name} has tables of another program: give another schema with ?schema=…")
    return 0
