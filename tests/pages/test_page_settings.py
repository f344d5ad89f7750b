"""The key of sessions: a file that servers share, or a random one that the workers of a server share."""

import json
from pathlib import Path

import pytest

from tests.pages.browser import PageBrowser
from tests.pages.conftest import Tell
from treaty.api.auth.sessions import SessionClaims, SessionCookies
from treaty.api.auth.watched_file import AuthFileError
from treaty.assemble.page_facts import AUDIT_BYTES, tail_of
from treaty.assemble.page_settings import PageSettings
from treaty.cli.page_options import page_flags
from treaty.web.pages.operator import AUDIT_LINES, AUDIT_MEMBERS, show_node
from treaty.web.pages.page import PageRequest, PageViewer, ServerFacts

SESSION = SessionClaims("user:ada", ("team",), "stamp", 2_000.0)


def cookie(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", f"other=1; treaty_session={value}".encode())]


def test_workers_share_a_random_key_that_others_may_not_read(tmp_path: Path) -> None:
    shared = PageSettings().with_shared_key(tmp_path)
    assert shared.session_key is not None
    assert shared.session_key.stat().st_mode & 0o077 == 0
    first, second = (SessionCookies(shared.read_key(), lambda: 1_000.0) for _ in range(2))
    assert second.read(cookie(first.issue(SESSION))) == SESSION
    assert second.is_form_token(first.form_token("user:ada"), "user:ada")
    assert not second.is_form_token(first.form_token("user:ada"), "user:eve")
    assert list(page_flags(shared)) == ["--pages", "--session-key-file", str(shared.session_key)]
    assert list(page_flags(PageSettings(enabled=False))) == ["--no-pages"]
    assert shared.with_shared_key(tmp_path / "another") == shared


def test_a_session_of_another_key_or_past_its_end_is_none() -> None:
    value = SessionCookies(b"k" * 32, lambda: 1_000.0).issue(SESSION)
    assert SessionCookies(b"o" * 32, lambda: 1_000.0).read(cookie(value)) is None
    assert SessionCookies(b"k" * 32, lambda: 2_000.0).read(cookie(value)) is None
    for broken in ("", ".", value[:-1], value.replace(".", ""), f"{value}.x", "e30." + value.partition(".")[2]):
        assert SessionCookies(b"k" * 32, lambda: 1_000.0).read(cookie(broken)) is None


@pytest.mark.parametrize("content", [None, b"short"], ids=["missing", "short"])
def test_an_unusable_key_file_is_named_with_the_remedy(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AuthFileError, match=r"key of sessions.*openssl rand -hex 32"):
        PageSettings(session_key=path).read_key()


def test_the_audit_page_shows_the_last_lines_of_a_large_a_rotated_and_a_damaged_file(
    tell: Tell, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    facts = ServerFacts("1", dict, audit=tail_of(path))

    async def story(browser: PageBrowser) -> None:
        async def read() -> list[dict[str, str]]:
            page = await show_node(PageRequest(browser.registry, PageViewer(), facts, {}))
            return list(page.values["audit"])

        assert await read() == [], "there is no file yet"
        with path.open("w", encoding="utf-8") as file:
            for number in range(12_000):
                file.write(json.dumps({"number": number, "path": "\u2028/subjects"}, ensure_ascii=False) + "\n")
        assert path.stat().st_size > AUDIT_BYTES
        last = [str(number) for number in range(11_999, 11_999 - AUDIT_LINES, -1)]
        assert [line["number"] for line in await read()] == last
        path.rename(tmp_path / "audit.jsonl.1")
        wide = json.dumps({f"m{number}": "x" for number in range(1_000)})
        damaged = ["7", "[]", "{", "[" * 100_000, "\udcff", wide, '{"number": 1}']
        path.write_bytes("\n".join(damaged).encode("utf-8", "surrogateescape") + b"\n\n")
        lines = await read()
        assert lines[0] == {"number": "1"}
        assert len(lines[1]) == AUDIT_MEMBERS
        assert [next(iter(line)) for line in lines[2:]] == ["not a line of the log"] * 5
        path.write_bytes(b"x" * (2 * AUDIT_BYTES))
        assert await read() == [], "one line without an end, of which no part is shown"

    tell(story)
