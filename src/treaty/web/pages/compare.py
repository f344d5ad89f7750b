"""Two schemas side by side, with every difference at the lines that cause it."""

from typing import Any

from treaty.core.messages.differences import CompareVersions, ComparisonSide, SchemasCompared
from treaty.core.messages.listings import ListVersions
from treaty.core.names import subject_of
from treaty.core.refusals import Refusal
from treaty.node.large_work import run_by_size
from treaty.web.pages.page import PageRequest, WebPage, is_number
from treaty.web.pages.templates import mark_all_unseen
from treaty.web.schemas.side_by_side import PlacedDifference, list_rows
from treaty.wire.differences import side_of

HARMS = {
    "backward": "New schema, old data: it can't be read",
    "forward": "Old schema, new data: it can't be read",
    "both": "Neither reads the data of the other",
    "none": "Harmless",
}
"""What a difference does, in words."""
NUMBERS = 200
"""Version numbers that are offered."""


async def show_comparison(request: PageRequest) -> WebPage:
    """Show the differences of two versions, guids or ids of versions; without them the form that asks for two.

    Without an old one a version is compared with the one before it.
    """
    left, right = request.raw("left"), request.raw("right")
    left = left or await find_earlier(request, right)
    values: dict[str, Any] = {"left": left, "right": right, "compared": None, "harms": HARMS, "numbers": []}
    if left and right:
        compared = await request.ask(CompareVersions(new=read_side(right), old=read_side(left)))
        values |= await comparison_values(compared)
        subject = subject_of(right.rpartition("@")[0] or right)
        listed = await request.ask_or_none(ListVersions(subject), Refusal)
        values["numbers"] = [f"{subject}@{one}" for one in (listed.numbers[-NUMBERS:] if listed else ())]
    return WebPage("compare.html", "Compare", values, "compare")


async def find_earlier(request: PageRequest, right: str) -> str:
    """Return the version before one as the form has it; empty where there is none, and for a guid."""
    name, _, version = right.rpartition("@")
    if not name or not is_number(version):
        return ""
    subject = subject_of(name)
    listed = await request.ask_or_none(ListVersions(subject, visible="all"), Refusal)
    earlier = [one for one in (listed.numbers if listed else ()) if one < int(version)]
    return f"{subject}@{earlier[-1]}" if earlier else ""


def read_side(text: str) -> ComparisonSide:
    """Return the side that a text names; blanks are part of a subject's name. Raises `Invalid`, `InvalidVersion`."""
    name, _, version = text.rpartition("@")
    if name != name.strip() and is_number(version):
        return ComparisonSide(subject_of(name), int(version))
    return side_of(text)


async def comparison_values(compared: SchemasCompared) -> dict[str, Any]:
    """Return what the templates show of a comparison."""
    size = sum(len(side.text) for side in (compared.old, compared.new) if side is not None)
    rows = await run_by_size(size * 8, lambda: list_rows(compared, mark_all_unseen))
    listed = [PlacedDifference(number, one) for number, one in enumerate(compared.differences, 1)]
    return {
        "compared": compared,
        "rows": rows,
        "harmful": [one for one in listed if one.is_harmful],
        "harmless": [one for one in listed if not one.is_harmful],
        "placed": {one.number for row in rows for one in row.differences},
        "harms": HARMS,
    }
