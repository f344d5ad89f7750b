"""The state of this node, the limits in force, and the audit log of this server, for those who may see them."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

from treaty.core import limits
from treaty.core.refusals import Forbidden
from treaty.web.pages.home import node_facts
from treaty.web.pages.page import PageRequest, WebPage

AUDIT_LINES = 200
"""Lines of the audit log that a page shows."""


def refuse_others(request: PageRequest) -> None:
    """Raise `Forbidden` for viewers who may not see the state of the server."""
    if not request.viewer.may_read_status:
        message = "the state of this server is for administrators"
        raise Forbidden.of("RIGHTS", message, allowed="a rule that gives admin on subjects * and contexts *")


async def show_node(request: PageRequest) -> WebPage:
    """Show how this node is, its position in the log, and what it has counted."""
    refuse_others(request)
    status: Any = request.server.status()
    members = {one.name: getattr(status, one.name) for one in fields(status)} if is_dataclass(status) else dict(status)
    groups: dict[str, list[tuple[str, str]]] = {"Node": []}
    for name, value in members.items():
        if is_dataclass(value):
            groups[_words(name)] = [(_words(one.name), _print(getattr(value, one.name))) for one in fields(value)]
        else:
            groups["Node"].append((_words(name), _print(value)))
    audit = request.server.audit
    values = {
        "groups": groups,
        "node": node_facts(request),
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
    """Return the members of a line of the audit log as texts."""
    try:
        members = json.loads(line)
    except ValueError:
        return {"line": line[:500]}
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in members.items()}


async def show_limits(request: PageRequest) -> WebPage:
    """Show every limit with its value."""
    refuse_others(request)
    rows = sorted(
        (name, f"{value:,}") for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)
    )
    return WebPage("limits.html", "Limits", {"limits": rows}, "node")
