"""The page for logging in, and where it leads afterwards."""

import re
from collections.abc import Sequence

from treaty.web.pages.page import WebPage

_LOCAL = re.compile(r"[a-z-]*(\?[^\s\\]*)?")
"""The address of one of these pages, relative to them: no scheme, no host, no way upwards."""


def local_page(text: str) -> str:
    """Return an address if it is one of these pages, else ""."""
    return text if _LOCAL.fullmatch(text) and not text.startswith(("login", "logout")) else ""


def show_login(wanted: str, methods: Sequence[str], *, status: int = 200, user: str = "", reason: str = "") -> WebPage:
    """Show the form for a name and a password, or a token; `wanted` is the page to which it leads."""
    values = {
        "wanted": local_page(wanted),
        "methods": methods,
        "user": user[:200],
        "failure": reason.removeprefix("Unauthorized: "),
    }
    return WebPage("login.html", "Log in", values, "login", status)
