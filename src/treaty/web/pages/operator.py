"""The state of this node, the limits in force, and the audit log of this server, for those who may see them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any

from treaty.core import limits
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.refusals import Denied, Forbidden, NotFound, NotOffered
from treaty.web.pages.page import PageRequest, WebPage
from treaty.web.pages.templates import status_link

AUDIT_LINES = 200
"""Lines of the audit log that a page shows."""
AUDIT_MEMBERS = 20
"""Members of one line of the audit log that a page shows; the server writes fewer."""


def refuse_non_administrators(request: PageRequest) -> None:
    """Raise `Forbidden` for viewers who may not see the state of the server."""
    if not request.viewer.may_read_status:
        message = "the state of this server is for administrators"
        raise Forbidden.of("RIGHTS", message, allowed="a rule that gives admin on subjects * and contexts *")


def node_facts(request: PageRequest) -> Mapping[str, str]:
    """Return how the node is, in words that say nothing of what it stores."""
    status: Any = request.server.status()
    trouble = getattr(status, "trouble", "")
    refusing = getattr(status, "read_only", "") or getattr(status, "refusing", "")
    if trouble:
        health, word = "bad", "The log cannot be reached; what is shown may be old."
    elif refusing:
        health, word = "warn", "Reads work, changes are rejected now."
    elif request.server.read_only:
        health, word = "ok", "Works; this server takes no changes."
    else:
        health, word = "ok", "Works: reads and writes."
    return {"health": health, "word": word, "sequence": f"{getattr(status, 'sequence', 0):,}"}


@dataclass(frozen=True, slots=True)
class SystemMember:
    """A process that belongs to the registry: what it is, how it is in words, and the address at which it says more of itself."""

    name: str
    health: str
    """ok, warn or bad."""
    word: str
    address: str = ""


async def list_members(request: PageRequest) -> list[SystemMember]:
    """Return this node, the workers beside it, the node that decides changes, and the runners of queries.

    No other node is asked: workers have written down how they are, and of others the address is known.
    """
    facts = node_facts(request)
    members = [SystemMember("this node", facts["health"], facts["word"], "node")]
    workers = request.server.workers() if request.server.workers else {}
    if len(workers) > 1:
        members += [_describe_worker(name, gauges) for name, gauges in sorted(workers.items())]
    leader = await request.server.leader() if request.server.leader else None
    if leader is not None:
        word = (
            "Decides changes."
            if leader.is_own
            else f"Decides changes for all, at {leader.address or 'no known address'}."
        )
        name = "this node" if leader.is_own else "another node"
        members.append(SystemMember(name, "ok", word, "" if leader.is_own else status_link(leader.address, "/readyz")))
    feed = await request.ask_or_none(ListQueries(limit=1), Denied, NotFound, NotOffered)
    for runner in feed.runners if feed else ():
        members.append(
            SystemMember(
                f"runner {runner.name}",
                "ok",
                f"Holds its lease since sequence {runner.epoch:,}.",
                status_link(runner.address),
            )
        )
    return members


def _describe_worker(name: str, gauges: Mapping[str, float]) -> SystemMember:
    """Return how a worker of this server was at its last beat."""
    sequence = f"at sequence {round(gauges.get('sequence', 0)):,}"
    if gauges.get("trouble"):
        return SystemMember(f"worker {name}", "bad", f"The log cannot be reached, {sequence}.")
    if gauges.get("read_only") or gauges.get("refusing"):
        return SystemMember(f"worker {name}", "warn", f"Reads work, changes are rejected now, {sequence}.")
    return SystemMember(f"worker {name}", "ok", f"Works, {sequence}.")


async def show_node(request: PageRequest) -> WebPage:
    """Show how this node is, its position in the log, and what it has counted."""
    refuse_non_administrators(request)
    status: Any = request.server.status()
    members = {one.name: getattr(status, one.name) for one in fields(status)} if is_dataclass(status) else dict(status)
    groups: dict[str, list[tuple[str, str]]] = {"Node": []}
    names = {"kept": "stored", "counts": "since the start"}
    for name, value in members.items():
        if is_dataclass(value):
            groups[names.get(name) or _words(name)] = [
                (_words(member.name), _print(getattr(value, member.name))) for member in fields(value)
            ]
        else:
            groups["Node"].append((_words(name), _print(value)))
    audit = request.server.audit
    values = {
        "groups": groups,
        "node": node_facts(request),
        "members": await list_members(request),
        "audit": [_read_line(line) for line in audit(AUDIT_LINES)] if audit else None,
    }
    return WebPage("node.html", "Node", values, "node")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _print(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value not in {None, ""} else "–"


def _read_line(line: str) -> dict[str, str]:
    """Return the members of a line of the audit log as texts; of a line that is none of the log what stands there."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        return {"not a line of the log": line[:500]}
    return {
        str(name)[:100]: value if isinstance(value, str) else json.dumps(value)
        for name, value in islice(members.items(), AUDIT_MEMBERS)
    }


async def show_limits(request: PageRequest) -> WebPage:
    """Show every limit with its value."""
    refuse_non_administrators(request)
    rows = sorted(
        (name, f"{value:,}") for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)
    )
    return WebPage("limits.html", "Limits", {"limits": rows}, "node")
