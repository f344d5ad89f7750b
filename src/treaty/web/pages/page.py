"""What a page is made from and what it becomes: the request, the viewer, the answer."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from treaty.core.access.rights import Access, Permission
from treaty.core.messages.request import Request
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, context_of, subject_of
from treaty.core.refusals import RegistryError
from treaty.core.registry import AsyncRegistry, CallOptions

A = TypeVar("A")
ROWS = 50
"""Rows of a list on one page."""
FORM_FIELDS = 200
"""Members of a form that a page takes."""
QUERY_FIELDS = 100
"""Members of the query of an address that a page takes."""
_LOCAL = re.compile(r"[a-z-]*(\?[^\s\\]*)?")
"""The address of one of these pages, relative to them: no scheme, no host, no way upwards."""
NUMBER_DIGITS = 10
"""Digits of a number in a form or an address."""


FROM_MEMORY = CallOptions(consistency="eventual")


def is_number(text: str) -> bool:
    """Return whether a text is a whole number of at most NUMBER_DIGITS decimal digits; longer ones `int` may not take."""
    return text.isascii() and text.isdecimal() and len(text) <= NUMBER_DIGITS


class PageError(Exception):
    """A request that no page answers: its status, what is wrong, and what to do."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        """Keep the status, the sentence and the remedy."""
        super().__init__(message)
        self.status = status
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class PageViewer:
    """Who looks at a page. Without rights `access` is None, and everything is allowed.

    `form_token` goes with every form that changes something. `has_session`: the viewer came by the cookie of a session.
    """

    principal: str = ""
    access: Access | None = None
    form_token: str = ""
    has_session: bool = False
    can_log_in: bool = False
    """Whether the server takes a name and a password, or a token, on its page for logging in."""
    knows_who: bool = False
    """Whether the server has rights, so that it asks who looks."""

    @property
    def is_anonymous(self) -> bool:
        """Whether it is not known who looks."""
        return self.principal in {"", "anonymous"}

    @property
    def may_read_status(self) -> bool:
        """Whether the viewer may see the state of the server: with rights, an administrator of everything."""
        return not self.knows_who or (self.access is not None and self.access.may_whole("admin", EVERYWHERE))

    def may(self, permission: Permission, subject: Subject) -> bool:
        """Return whether a button is worth showing; the operation itself decides."""
        return self.access is None or self.access.may(permission, subject)

    def may_source(self, permission: Permission, key: str) -> bool:
        """The same for a source of the metastore."""
        return self.access is None or self.access.may_source(permission, key)


@dataclass(frozen=True, slots=True)
class LeadingNode:
    """The node that decides changes: its address, empty if it is not known, and whether it is this one."""

    address: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What pages say about the server: its version, its own status, whether it writes at all, and its address as asked."""

    version: str
    status: Callable[[], object] = field(repr=False)
    read_only: bool = False
    address: str = ""
    audit: Callable[[int], list[str]] | None = field(default=None, repr=False)
    """The last so many lines of the audit log; None where it is no file."""
    workers: Callable[[], Mapping[str, Mapping[str, float]]] | None = field(default=None, repr=False)
    """The gauges of all workers of this server by worker, as of their last beat."""
    leader: Callable[[], Awaitable[LeadingNode | None]] | None = field(default=None, repr=False)
    """The node that decides changes, as far as this one knows; None where all nodes are alike."""
    runner_status: Callable[[str], Awaitable[bytes | None]] | None = field(default=None, repr=False)
    """What the status of a runner at an address says; None where runners are not asked."""
    clock: Callable[[], float] = field(default=time.time, repr=False)
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page. `registry` asks with the rights of the viewer."""

    registry: AsyncRegistry
    viewer: PageViewer
    server: ServerFacts
    query: Mapping[str, str]
    form: Mapping[str, str] | None = None
    """The members of the form that was sent; None for a page that is only looked at."""
    call: CallOptions = FROM_MEMORY

    async def ask(self, request: Request[A]) -> A:
        """Ask the registry; raises what it raises."""
        return (await self.registry.ask(request, self.call)).answer

    async def ask_or_none(self, request: Request[A], *expected: type[RegistryError]) -> A | None:
        """Ask the registry; None for the expected refusals."""
        try:
            return await self.ask(request)
        except expected:
            return None

    def text(self, name: str, default: str = "") -> str:
        """A member of the query, without blanks around it."""
        return self.query.get(name, default).strip()

    def raw(self, name: str) -> str:
        """A member of the query as it is: the names of subjects may begin and end with blanks."""
        return self.query.get(name, "")

    def number(self, name: str, default: int, lowest: int = 0, highest: int = 2**31 - 1) -> int:
        """A whole number of the query within its bounds; raises `PageError`."""
        text = self.text(name)
        if not text:
            return default
        if not (is_number(text.removeprefix("-")) and lowest <= int(text) <= highest):
            raise PageError(400, f"{name} = {text[:50]!r} is no number from {lowest:,} to {highest:,}")
        return int(text)

    def subject(self, name: str = "name") -> Subject:
        """The subject that the query names; raises `PageError`."""
        text = self.raw(name)
        if not text:
            raise PageError(400, f"the address of this page names no subject: it lacks {name}=…", "begin with Subjects")
        return subject_of(text)

    def context(self) -> str:
        """The context that the query names; ``*`` is all of them."""
        text = self.text("context")
        return context_of(text) if text and text != DEFAULT_CONTEXT else text or EVERYWHERE


@dataclass(frozen=True, slots=True)
class WebPage:
    """An answer: a template with its values. `title` is shown in the browser's bar; `section` is the entry of the menu."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    section: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class PageMoved:
    """An answer that leads to another page, by an address relative to this one."""

    to: str


@dataclass(frozen=True, slots=True)
class RawText:
    """An answer that is plain text, such as a long schema."""

    text: str


def local_page(text: str) -> str:
    """Return an address if it is one of these pages, else ""."""
    return text if _LOCAL.fullmatch(text) and not text.startswith(("login", "logout")) else ""


def show_login(
    target_page: str, methods: Sequence[str], *, status: int = 200, user: str = "", reason: str = ""
) -> WebPage:
    """Show the form for a name and a password, or a token; `target_page` is the page to which it leads."""
    values = {
        "wanted": local_page(target_page),
        "methods": methods,
        "user": user[:200],
        "failure": reason.removeprefix("Unauthorized: "),
    }
    return WebPage("login.html", "Log in", values, "login", status)
