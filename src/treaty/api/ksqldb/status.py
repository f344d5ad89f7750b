"""The status of a command by its id, as the rows of the metastore show it."""

from typing import Any

from treaty.api.dialects.dialect import RequestRegistry
from treaty.api.errors import HttpError
from treaty.api.ksqldb.entities import has_query, query_id
from treaty.core.messages.metastore.sources import DescribeSource, DescribeType
from treaty.core.refusals import NotFound

SUCCESS = "SUCCESS"
DONE = "a statement is done when its answer is there: /ksql has its status and its message"
"""Where the status of a command is that rows do not show."""
_PRESENT = frozenset({"create", "undrop", "alter"})
_DESIRED = {"pause": "PAUSED", "resume": "RUNNING"}
_KINDS = frozenset({"stream", "table", "query", "type"})


async def find_status(registry: RequestRegistry, kind: str, name: str, action: str) -> dict[str, Any]:
    """Return the status of the command ``kind/name/action``: SUCCESS, as the rows show what it comes to.

    The name may have back quotes, as ksqlDB writes it. Raises `HttpError` 404 where no row shows it.
    """
    name = name[1:-1].replace("``", "`") if len(name) > 1 and name[0] == name[-1] == "`" else name
    kind, action = kind.lower(), action.lower()
    if kind not in _KINDS or action not in {*_PRESENT, *_DESIRED, "drop"}:
        raise _make_missing_error(kind, name, action, "no statement here has such a command id")
    if kind == "type":
        return await _find_type(registry, name, action)
    try:
        source = (await registry.ask(DescribeSource(name))).source
    except NotFound:
        source = None
    if source is not None and kind not in {"query", source.kind.lower()}:
        raise _make_missing_error(kind, name, action, f"{source.name} is a {source.kind.lower()}")
    if action == "drop":
        return _expect_absence(kind, name, is_there=source is not None)
    if source is None:
        raise _make_missing_error(kind, name, action, f"there is no stream or table {name}")
    if action in _DESIRED and source.desired != _DESIRED[action]:
        raise _make_missing_error(kind, name, action, f"the query of {source.name} is to be {source.desired}")
    return _print_success(f"{source.name} is there", query_id(source) if has_query(source) else "")


async def _find_type(registry: RequestRegistry, name: str, action: str) -> dict[str, Any]:
    try:
        stored = (await registry.ask(DescribeType(name))).type
    except NotFound:
        stored = None
    if action == "drop":
        return _expect_absence("type", name, is_there=stored is not None)
    if stored is None or action != "create":
        raise _make_missing_error("type", name, action, f"there is no type {name}")
    return _print_success(f"{stored.name} is there")


def _expect_absence(kind: str, name: str, *, is_there: bool) -> dict[str, Any]:
    if is_there:
        raise _make_missing_error(kind, name, "drop", f"{name} is there")
    return _print_success(f"{name} is not there")


def _print_success(message: str, query: str = "") -> dict[str, Any]:
    """The body of a status; a query id is a text in each, since clients want one."""
    return {"status": SUCCESS, "message": message, "queryId": query}


def _make_missing_error(kind: str, name: str, action: str, why: str) -> HttpError:
    return HttpError(404, f"There is no command {kind}/{name}/{action} whose outcome is there: {why}; {DONE}")
