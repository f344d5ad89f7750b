"""A browser without scripts: it follows links, fills in forms, keeps cookies, and knows what may not be in a page."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

import httpx2

from tests.facades.doors import write_passwords
from treaty.api.application import build_application
from treaty.api.auth.authentication import RequestAuthenticator
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node
from treaty.assemble.page_settings import PageSettings
from treaty.assemble.server import pages_over
from treaty.core.registry import AsyncRegistry

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta"})


@dataclass
class PageElements(HTMLParser):
    """The elements of a page: their names, attributes and texts; an end that does not fit is remembered as a fault."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@dataclass(frozen=True)
class SeenPage:
    """A page as the browser got it."""

    status: int
    html: str
    headers: Mapping[str, str]
    address: str

    @property
    def parsed(self) -> PageElements:
        parser = PageElements()
        parser.feed(self.html)
        parser.close()
        return parser

    @property
    def text(self) -> str:
        """The text, blanks made one."""
        return re.sub(r"\s+", " ", " ".join(self.parsed.texts))

    @property
    def links(self) -> list[str]:
        return [members["href"] for tag, members in self.parsed.elements if tag == "a" and "href" in members]

    def hidden(self) -> dict[str, str]:
        """The hidden members of the forms."""
        return {
            members["name"]: members.get("value", "")
            for tag, members in self.parsed.elements
            if tag == "input" and members.get("type") == "hidden"
        }


@dataclass
class PageBrowser:
    """Asks for pages, as one person. `registry` asks with all rights."""

    http: httpx2.AsyncClient
    registry: AsyncRegistry
    folder: Path
    authenticator: RequestAuthenticator | None = None

    async def see(self, page: str, who: Mapping[str, str] | None = None, **query: object) -> SeenPage:
        """Ask for a page, and follow where it leads."""
        address = f"/ui/{page}" + (f"?{urlencode(query)}" if query else "")
        return await self.follow(address, who)

    async def follow(self, address: str, who: Mapping[str, str] | None = None) -> SeenPage:
        headers = {"accept": BROWSER, **(who or {})}
        return _page(await self.http.get(urljoin("http://test/ui/", address), headers=headers, follow_redirects=True))

    async def send(
        self, page: str, form: Mapping[str, object], who: Mapping[str, str] | None = None, **headers: str
    ) -> SeenPage:
        """Send a form, and follow where it leads."""
        sent = {"accept": BROWSER, **{name.replace("_", "-"): value for name, value in headers.items()}, **(who or {})}
        body = {name: str(value) for name, value in form.items()}
        return _page(
            await self.http.post(urljoin("http://test/ui/", page), data=body, headers=sent, follow_redirects=True)
        )

    async def post(self, path: str, body: object, who: Mapping[str, str] | None = None) -> Any:
        answer = await self.http.post(path, json=body, headers=dict(who or {}))
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def register(self, subject: str, schema: str, who: Mapping[str, str] | None = None, **members: object) -> int:
        name = urlencode({"": subject})[1:].replace("+", "%20")
        return int((await self.post(f"/subjects/{name}/versions", {"schema": schema, **members}, who))["id"])


def _page(answer: httpx2.Response) -> SeenPage:
    return SeenPage(answer.status_code, answer.text, answer.headers, str(answer.url))


RIGHTS = """
[basic]
file = "passwords"
"""


def open_pages(
    folder: Path,
    story: Callable[[PageBrowser], Awaitable[None]],
    *,
    rights: str = "",
    read_only: bool = False,
    pages: bool = True,
) -> None:
    """Run a story over a registry in memory; the users root, ada and eve have the password ``secret``."""

    async def run() -> None:
        protection = ProtectionSettings(read_only=read_only)
        if rights:
            write_passwords(folder / "passwords", root="secret", ada="secret", eve="secret")
            (folder / "rights.toml").write_text(RIGHTS + rights)
            protection = ProtectionSettings(auth=folder / "rights.toml", read_only=read_only)
        async with open_protection(protection) as active, open_node("memory:") as node:
            over = pages_over(node, PageSettings(pages), protection, active)
            app = build_application(node, protection=active)
            app = app if over is None else app.with_pages(over)
            transport = httpx2.ASGITransport(app=app.dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                await story(PageBrowser(http, node, folder, active.authenticator if active else None))

    asyncio.run(run())
