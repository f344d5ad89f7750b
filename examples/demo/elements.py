"""Elements of the report: a section, and a table in it."""

from collections.abc import Sequence
from html import escape


def card(title: str, lead: str, *inside: str) -> str:
    """Return a section; `lead` and what is inside are HTML."""
    return f"<section><h2>{escape(title)}</h2><p class='lead'>{lead}</p>{''.join(inside)}</section>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table. Cells are HTML; the columns in `numbers` are right-aligned."""

    def cells(tag: str, values: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=number' if at in numbers else ''}>{value}</{tag}>" for at, value in enumerate(values)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<div class='wide'><table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table></div>"
