"""`treaty query`: what the queries of a registry do, asked from their runners; and the state, reason and remedy of those whose runner
does not answer, has no address or has not begun with them.
"""

import json
import time
import urllib.request
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from importlib import import_module
from typing import Any

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.core.messages.metastore.query_feed import FedQuery, FedRunner, ListQueries
from treaty.core.messages.metastore.runners import ReleaseRunner
from treaty.core.registry import run_exchange
from treaty.core.sources import BAD, QUERY
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.pages import NO_RUNNER

ANSWER_SECONDS = 5
"""Seconds in which a runner answers."""
HEADS = ("query", "part", "state", "runner", "in", "out", "bad", "lag", "batch", "seconds", "reason")
STATUS_BYTES = 64 * 1_024 * 1_024
"""Bytes that the status of a runner has at most."""


@click.group("query", cls=SubcommandGroup)
def command() -> None:
    """Watch the queries of a registry, and what went wrong."""


runner_option = click.option(
    "--runner", "addresses", multiple=True, metavar="URL",
    help="Ask this runner, by the address that it printed, and not those that the registry names. Repeatable.",
)  # fmt: skip


@command.command("watch")
@click.option(
    "--every",
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(0.2),
    help="The time between two looks.",
)
@click.option("--once", is_flag=True, help="Look once.")
@runner_option
@connection.registry
@connection.as_json
def watch(*, every: float, once: bool, addresses: tuple[str, ...], registry: str, as_json: bool) -> None:
    """Show what each query, and each stream of bad rows, does, again and again: its state, its runner, rows, bad rows, lag and the last batch.

    With --json each look is a line with all numbers.

    \b
    Examples:
      treaty query watch
      treaty query watch --once --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        while True:
            statuses = list(read_statuses(client, addresses))
            if as_json:
                screen.say(screen.json_text({"time": _now(), "queries": statuses}))
            else:
                _draw(statuses, clear=not once and screen.is_terminal())
            if once:
                return
            time.sleep(every)


@command.command("errors")
@click.argument("name")
@runner_option
@connection.registry
@connection.as_json
def errors(*, name: str, addresses: tuple[str, ...], registry: str, as_json: bool) -> None:
    """Show what is wrong with the query NAME: its state, the reason, the way out, its last error, and its bad rows by reason.

    Exit code 0: nothing is wrong now. 1: it waits, is tried again, has failed, or has no runner.

    \b
    Examples:
      treaty query errors delays
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        query = next(
            (one for one in read_statuses(client, addresses) if key_of_name(one["name"]) == key_of_name(name)), None
        )
    if query is None:
        raise UnusableError(f"there is no query {name}; `treaty query watch --once` lists them")
    is_troubled = query["state"] in {"WAITING", "RETRYING", "FAILED", NO_RUNNER}
    if as_json:
        screen.say_json(query)
    else:
        _say_errors(query)
    if is_troubled:
        raise SystemExit(1)


@command.command("of")
@click.argument("name")
@click.option(
    "--incarnation",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only this one: the number of a checkpoint, of the rows of a table, or of a record's header.",
)
@connection.registry
@connection.as_json
def history(*, name: str, number: int | None, registry: str, as_json: bool) -> None:
    """Show which queries have filled the stream or table NAME: statement, schema ids, author and time of each.

    Rows and checkpoints carry the number of the incarnation that wrote them. Former ones are kept for seven days (DROP_GRACE).

    \b
    Examples:
      treaty query of delays
      treaty query of delays --incarnation 42 --json
    """  # noqa: D301 - click wants the control character
    rows: Any = import_module("treaty.metastore.execution.history")
    exchange = rows.list_history(name) if number is None else rows.find_incarnation(name, number)
    with connection.open_registry(registry) as client:
        answer = run_exchange(client.registry, exchange)
    listed = answer if number is None else [answer]
    if as_json:
        screen.say_json(listed if number is None else answer)
        return
    for incarnation in listed:
        screen.say("\n".join(f"{word.replace('_', ' ')}: {value}" for word, value in incarnation.items()) + "\n")


@command.command("files")
@runner_option
@connection.registry
@connection.as_json
def files(*, addresses: tuple[str, ...], registry: str, as_json: bool) -> None:
    """Show checkpoints and tables that no source needs any more, and when the runner removes them.

    They stay for seven days (DROP_GRACE) and an hour after the drop or the replacement. Until then UNDROP and ROLLBACK keep them. A table that
    was there before its query is never removed.

    \b
    Examples:
      treaty query files
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        runners = read_feed(client)[1]
    runners_asked = [FedRunner("", 0, "", address) for address in addresses] or [*runners]
    statuses, silent = ask_statuses(runners_asked)
    leaving = [one for status in statuses for one in status.get("leaving", ())]
    errors = {status["name"]: status["sweep_error"] for status in statuses if status.get("sweep_error")}
    if as_json:
        screen.say_json({"leaving": leaving, "silent": silent, "errors": errors})
        return
    for reason in (
        *silent.values(),
        *(f"the runner {name} could not remove all: {text}" for name, text in errors.items()),
    ):
        screen.say(reason, "yellow", err=True)
    if not leaving:
        if not errors and not silent:  # else it is not known
            screen.say("no files are leaving", err=True)
        return
    rows = [
        (
            leftover["name"],
            leftover["kind"],
            str(leftover["number"]),
            _print_time(leftover["due"]),
            "yes" if leftover["returns"] else "no",
            leftover["folder"],
        )
        for leftover in leaving
    ]
    screen.say_rows(("source", "kind", "number", "removed after", "may return", "folder"), rows)


@command.command("release")
@click.argument("runner")
@connection.registry
@connection.as_json
def release(*, runner: str, registry: str, as_json: bool) -> None:
    """End the lease of RUNNER, which is gone for good: its queries go to others, or wait for the next one.

    It is not needed for a runner whose root others have: they do it after 15 seconds. A runner that is alive after all ends then, with the reason.

    \b
    Examples:
      treaty query release host-1
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        known_runner = next((one for one in client.ask(ListQueries()).answer.runners if one.name == runner), None)
        if known_runner is None:
            raise UnusableError(f"no runner {runner} has a lease: SHOW QUERIES EXTENDED names those that have one")
        released = 0
        while (answer := client.ask(ReleaseRunner(runner, known_runner.epoch)).answer).more:
            released += answer.released
        released += answer.released
    if as_json:
        screen.say_json({"runner": runner, "epoch": known_runner.epoch, "released": released})
    else:
        screen.say(f"the lease of {runner} has ended; it had {released} parts")


def read_statuses(client: Connection, addresses: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield what is known of each query, and of each stream of bad rows: the members of its runner's status, or those of its row where no runner answers."""
    queries, runners = read_feed(client)
    runners_asked = {address: FedRunner("", 0, "", address) for address in addresses} or {
        runner.name: runner for runner in runners
    }
    answers, silent = _ask_runners(runners_asked.values())
    for fed in queries:
        part = QUERY if fed.source.query is not None else BAD
        assigned = next((one.runner for one in fed.assigned if one.part == part), "")
        members = answers.get((fed.source.generation, part))
        if members is None:
            reason = _explain_missing(assigned, silent, runners_asked)
            members = {
                "name": fed.source.name, "part": part, "generation": fed.source.generation, "state": NO_RUNNER, "reason": reason,
                "remedy": "a runner that runs", "command": "treaty runner --root SHARED",
            }  # fmt: skip
        yield {"runner": assigned, **members, "desired": fed.source.desired}


def _explain_missing(assigned: str, silent: Mapping[str, str], names_asked: Collection[str]) -> str:
    """Why no status of a query came, by the runner that has it, those that are silent, and those that were asked."""
    if assigned in silent:
        return silent[assigned]
    if assigned and assigned in names_asked:
        return f"the runner {assigned} has it, and has not begun with it yet"
    return "; ".join(silent.values()) or "no runner has it: `treaty runner` runs it"


def read_feed(client: Connection) -> tuple[list[FedQuery], tuple[FedRunner, ...]]:
    """Return all that is run, and the runners."""
    first = client.ask(ListQueries()).answer
    queries, last = list(first.queries), first.last
    while last:
        page = client.ask(ListQueries(after=last)).answer
        queries += page.queries
        last = page.last
    return queries, first.runners


def _ask_runners(runners: Iterable[FedRunner]) -> tuple[dict[tuple[int, str], dict[str, Any]], dict[str, str]]:
    """The statuses by generation and part, and why a runner gives none, by its name."""
    statuses, silent = ask_statuses(runners)
    answers = {
        (members["generation"], members["part"]): {"runner": status["name"], **members}
        for status in statuses
        for members in status["queries"]
        if members["state"] != "ENDED"
    }
    return answers, silent


def ask_statuses(runners: Iterable[FedRunner]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return what runners say of themselves, and why others say nothing, by their names."""
    statuses: list[dict[str, Any]] = []
    silent: dict[str, str] = {}
    for runner in runners:
        if not runner.address.startswith(("http://", "https://")):
            silent[runner.name] = f"the runner {runner.name} has no address: start it with --listen HOST:PORT"
            continue
        try:
            with urllib.request.urlopen(f"{runner.address.rstrip('/')}/status", timeout=ANSWER_SECONDS) as answer:  # noqa: S310 (http alone)
                statuses.append(read_status(answer.read(STATUS_BYTES + 1)))
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            silent[runner.name] = f"the runner {runner.name or 'there'} does not answer at {runner.address}: {reason}"
    return statuses, silent


def read_status(body: bytes) -> dict[str, Any]:
    """What a runner says. Raises `ValueError` for what no runner says."""
    status = json.loads(body) if len(body) <= STATUS_BYTES else None
    if not isinstance(status, dict) or not isinstance(status.get("queries"), list) or "name" not in status:
        message = "what answers there is no runner"
        raise ValueError(message)
    return status


def _draw(statuses: list[dict[str, Any]], *, clear: bool) -> None:
    if clear:
        click.clear()
        screen.say(f"{_now()}   Ctrl-C ends", err=True)
    if not statuses:
        screen.say("no query: CREATE … AS makes one", err=True)
        return
    screen.say_rows(HEADS, [_row(one) for one in statuses])


def _row(members: dict[str, Any]) -> tuple[str, ...]:
    def number(name: str) -> str:
        value = members.get(name)
        return "" if value is None else f"{value:,}"

    seconds = f"{members['batch_ms'] / 1_000:.1f}" if members.get("batches") else ""
    return (
        members["name"], members["part"], members["state"], members["runner"], number("rows_in"), number("rows_out"), number("bad_rows"),
        number("lag_records"), number("batch") if members.get("batches") else "", seconds, members.get("reason", ""),
    )  # fmt: skip


def _say_errors(query: dict[str, Any]) -> None:
    facts = {"query": query["name"], "state": query["state"], "runner": query["runner"] or "none"}
    if query.get("reason"):
        facts |= {"reason": query["reason"], "way out": query.get("remedy", ""), "command": query["command"]}
    if query.get("last_error"):
        facts["last error"] = f"{_print_time(query['last_error_time'])} {query['last_error']}"
    for code, count in query.get("bad", {}).items():
        facts[f"bad rows {code}"] = f"{count:,}"
    screen.say_facts(facts)


def _print_time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1_000, UTC).isoformat(timespec="seconds")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 (the time of a look)
