"""The templates, and how values are printed in them: times, sizes, links, names with characters that are not visible.

Each row of a list is printed by functions here: a macro of a template takes several times as long.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import quote_plus

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from treaty.core.urls import UrlError, split_server_url
from treaty.web.pages.assets import static_path

FOLDER = Path(__file__).parent / "templates"
NAME_CHARACTERS = 200
"""Characters of a name that a list shows; the rest is behind an ellipsis."""
FORMATS: Mapping[str, str] = {"AVRO": "Avro", "JSON": "JSON Schema", "PROTOBUF": "Protobuf"}
"""Words for formats that have a colour of their own."""
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")
"""Texts that need no quoting in an address."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that are not visible, or that change the direction of what follows."""


def show_unseen(text: str) -> Markup:
    """Return a text as HTML, in which characters that are not visible are shown by their number."""
    if _UNSEEN.search(text) is None:
        return escape(text)
    parts: list[Markup] = []
    at = 0
    for match in _UNSEEN.finditer(text):
        parts += [escape(text[at : match.start()]), mark_unseen(match[0])]
        at = match.end()
    return Markup("").join([*parts, escape(text[at:])])


def mark_unseen(character: str) -> Markup:
    """Return the mark for a character that are not visible."""
    return Markup('<span class="unseen" title="a character that is not visible">U+{:04X}</span>').format(ord(character))


def mark_all_unseen(markup: str) -> Markup:
    """Replace such characters in text that is HTML already; it has none of them inside of tags."""
    return Markup(_UNSEEN.sub(lambda match: mark_unseen(match[0]), markup))  # noqa: S704 (escaped by its maker)


def short_name(text: str, limit: int = NAME_CHARACTERS) -> Markup:
    """Return a name for a list: cut, with what is not visible shown."""
    return show_unseen(text if len(text) <= limit else f"{text[:limit]}…")


def cut_text(text: str, limit: int = 2_000) -> Markup:
    """Return a longer text, cut, with how much is left out."""
    if len(text) <= limit:
        return show_unseen(text)
    return show_unseen(text[:limit]) + Markup(' <span class="quiet">… and {} more characters</span>').format(
        f"{len(text) - limit:,}"
    )


def print_time(milliseconds: int) -> Markup:
    """Return a time in UTC; the script of the pages turns it into the reader's own zone."""
    if not 0 < milliseconds < 253_402_300_800_000:
        return Markup('<span class="quiet">unknown</span>')
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    return Markup(f'<time datetime="{moment}">{moment[:10]} {moment[11:16]} UTC</time>')  # noqa: S704 (digits)


def link_to(page: str, **members: object) -> str:
    """Return the address of a page with members of its query; None and "" are left out."""
    pairs = [
        f"{name.rstrip('_')}={_quote(str(value))}"
        for name, value in members.items()
        if value is not None and value != ""
    ]
    return f"{page}?{'&'.join(pairs)}" if pairs else page


def _quote(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote_plus(text, errors="surrogatepass")


def subject_link(name: str, limit: int = 120) -> Markup:
    """Return a link to the page of a subject."""
    address = escape(link_to("subject", name=name))
    return Markup(f'<a href="{address}" class="subject-name"><bdi>{short_name(name, limit)}</bdi></a>')  # noqa: S704 (escaped)


def version_link(subject: str, number: int) -> Markup:
    """Return a link to the page of a version."""
    address = escape(link_to("schema", subject=subject, version=number))
    return Markup(f'<a href="{address}">{number:d}</a>')  # noqa: S704 (escaped)


def format_badge(name: str) -> Markup:
    """Return a mark that says a format."""
    words = FORMATS.get(name)
    kind, text = (name.lower(), words) if words else ("other", short_name(name, 30))
    return Markup(f'<span class="badge format {kind}">{text}</span>')  # noqa: S704 (escaped)


def link_to_use(kind: str, name: str) -> str:
    """Return the address of what a source needs, or of who needs it, named as people know it; empty for a topic."""
    if kind in {"SOURCE", "TYPE"}:
        return link_to(kind.lower(), name=name)
    subject, word, number = name.rpartition(" version ")
    return link_to("schema", subject=subject, version=number) if kind == "VERSION" and word else ""


def status_link(address: str, path: str = "/status") -> str:
    """Return the address of the status of another process; empty for one that no browser is to open, such as a script."""
    try:
        parts = split_server_url(address)
    except UrlError:
        return ""
    return f"{address.rstrip('/')}{path}" if parts.scheme in {"http", "https"} and parts.hostname else ""


def print_count(number: int) -> str:
    """Return a number with commas."""
    return f"{number:,}"


def plural(number: int, word: str, words: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def join_classes(*names: str | Iterable[str]) -> str:
    """Return class names for an attribute."""
    return " ".join(name if isinstance(name, str) else " ".join(name) for name in names if name)


@cache
def environment() -> Environment:
    """The environment of all templates: everything is escaped, and a missing value is an error."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters |= {
        "name": short_name,
        "cut": cut_text,
        "when": print_time,
        "count": print_count,
        "unseen": show_unseen,
    }
    templates.globals |= {
        "link": link_to,
        "static": static_path,
        "plural": plural,
        "classes": join_classes,
        "subject_link": subject_link,
        "version_link": version_link,
        "format_badge": format_badge,
    }
    return templates
