"""The page of a server: members of `/status`, statuses under load, settings of PostgreSQL; `make.py` writes it."""

PAGE = """# Server

What a running server says of itself. [How to](../howto/operate.md) operate one; [metrics](metrics.md) have a page of their own.

## Members of `/status`

| member of `/status` | |
|---|---|
| `server` | version of Treaty, level of Confluent's API, seconds since the start |
| `node` | kind, URL and identity of the log; `sequence`, `digest` and `state_root` of its last append; `root_stated` and `root_found` if the rows [do not match the state root](../log.md#the-state-root); `behind`: commits not applied yet; `kept`: counts of what is stored; `quarantined`: rows that this version cannot read (`read_only` has the reason); `foreign_records`: foreign records in the topic of a Kafka log, which are ignored (check who else writes there); `refusing`: why the log rejected the last write; `trouble`: why the log is unreachable; `state_file_age` in seconds; counters |
| `worker`, `workers` | the worker that answered; the gauges of all workers |
| `limits` | every limit, by [name](limits.md) |

## Statuses under load

| status | limit | what to do |
|---|---|---|
| 429 | `IN_FLIGHT_EACH`: requests of one client (its principal, or its address without authentication) | retry after `Retry-After`; behind a proxy all clients share one address, unless it is a [`--trusted-proxy`](../howto/serve.md#web-pages-and-proxies) |
| 503 | `IN_FLIGHT`: requests of one worker; `QUEUE`: commands that wait to be written; `PASSWORD_CHECKS`, `PASSWORD_CHECKS_EACH`: [passwords](../howto/rights.md#what-it-costs) | retry after `Retry-After`; nothing was written |
| 503 | `POOL_DECISIONS`, `POOL_BYTES`, and the same with `_EACH` for one client: requests whose schemas wait to be parsed and compared | retry after `Retry-After`; nothing was written |
| 503, closed | `CONNECTIONS`, `CONNECTIONS_EACH`: [connections](../howto/operate.md#under-load) | connect later, or use fewer connections |
| closed | `UNREAD_SECONDS`, `UNREAD_BYTES`: the client did not read an answer | read faster, or use pages (`limit`, `offset`) |
| 504 | | the change may have been written: retry with the same `Treaty-Command`, or ask `/treaty/outcome/{command}` |
| 413 | `REQUEST_BYTES` | send a smaller body |
| 422, 42209 | a limit of schemas | the message names it |

## Settings of PostgreSQL

| setting of the server | what Treaty does |
|---|---|
| `synchronous_commit = off` or `local`, of the server, the database or the role | sets `on` for each of its commits. Stronger values stay |
| `fsync = off` | does not start, because a crash of that machine loses confirmed commits. Set `fsync = on`, or add `?durable=no` to the URL (`&durable=no` after other parameters) if the registry may be lost; it then starts with a warning |
| `full_page_writes = off` | starts with a warning: a half-written page damages the log, except on a file system that writes whole pages |
"""


def page() -> str:
    """Return the page."""
    return PAGE
