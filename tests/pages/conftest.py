"""The pages of a registry in memory: what a browser gets, and what is in it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.pages.browser import PageBrowser, open_pages

Story = Callable[[PageBrowser], Awaitable[None]]
Tell = Callable[..., None]


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    """Run a story over a registry of its own; with `rights`, a file of rights is in force."""

    def run(story: Story, *, rights: str = "", read_only: bool = False) -> None:
        open_pages(tmp_path, story, rights=rights, read_only=read_only)

    return run
