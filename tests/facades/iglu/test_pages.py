"""Lists and counts of Iglu's API are made of pages of the registry: their size changes no answer."""

import asyncio
from pathlib import Path

import pytest

from tests.facades.iglu.test_private import SECRET, SUPER, registry
from tests.worlds.world import World

LISTED = (
    "/api/schemas",
    "/api/schemas?repr=canonical",
    "/api/schemas/com.acme",
    "/api/schemas/com.acme/open/jsonschema",
    "/api/schemas/com.none",
    "/api/meta/server",
)


@pytest.mark.parametrize("size", [2, 3])
def test_lists_and_counts_do_not_hang_on_the_size_of_a_page(size: int, tmp_path: Path) -> None:
    """Six schemas, two of them private and one of another vendor: pages that end before, at and behind the last of them."""

    async def run() -> None:
        async with registry(tmp_path / "it", with_private=True) as (it, callers):
            for path in ("com.other/a/jsonschema/1-0-0", "com.acme/zoo/jsonschema/1-0-0"):
                await it.ask("PUT", f"/api/schemas/{path}?isPublic=true", {"apikey": SUPER}, SECRET)
            for name in ("super", "other", "anonymous"):
                whole = [await it.ask("GET", path, callers[name]) for path in LISTED]
                with World(pages=(("IGLU_PAGE", size),)).paged():
                    assert [await it.ask("GET", path, callers[name]) for path in LISTED] == whole

    asyncio.run(run())
