"""Lines of the audit log: none lost silently, none that makes a request wait, and a file that may be rotated."""

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.open_files import list_open_below
from treaty.api import audit_log
from treaty.api.audit_log import AuditFile


def eventually(true: Callable[[], bool]) -> None:
    for _ in range(200):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it never came to be")


def test_lines_are_written_in_order_and_appended(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    for begin in (0, 500):
        lines = AuditFile(path)
        lines.open()
        for n in range(begin, begin + 500):
            lines.put(b"%d\n" % n)
        lines.close()
        assert (lines.written, lines.lost) == (500, 0)
    assert path.read_text().split() == [str(n) for n in range(1000)]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_rotated_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    lines = AuditFile(path)
    lines.open()
    lines.put(b"1\n")
    eventually(lambda: lines.written == 1)
    path.rename(tmp_path / "old")
    lines.put(b"2\n")
    eventually(lambda: lines.written == 2)
    lines.close()
    assert ((tmp_path / "old").read_text(), path.read_text()) == ("1\n", "2\n")


def take_away(path: Path, turn: int) -> None:
    path.unlink()


def rename(path: Path, turn: int) -> None:
    path.rename(path.with_name(f"old-{turn}"))


def replace_file(path: Path, turn: int) -> None:
    new = path.with_name("new")
    new.write_bytes(b"")
    new.replace(path)


@pytest.mark.parametrize("rotate", [take_away, rename, replace_file], ids=["removed", "renamed", "replaced"])
def test_a_file_that_is_rotated_often_leaves_one_open_until_the_end(
    tmp_path: Path, rotate: Callable[[Path, int], None]
) -> None:
    path = tmp_path / "audit"
    lines = AuditFile(path)
    lines.open()
    counts = []
    for turn in range(4):
        lines.put(b"%d\n" % turn)
        eventually(lambda expected=turn + 1: lines.written == expected)  # type: ignore[misc]
        assert path.read_bytes() == b"%d\n" % turn
        counts.append(len(list_open_below(tmp_path)))
        rotate(path, turn)
    lines.close()

    assert counts == [1] * 4
    assert list_open_below(tmp_path) == []


def test_trouble_is_tried_again_and_nothing_is_lost_or_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_log, "AGAIN_SECONDS", 0.01)
    lines = AuditFile(tmp_path / "audit")
    lines.open()
    real, troubles = os.write, [True]

    def full(descriptor: int, data: bytes) -> int:
        if descriptor != lines.descriptor:
            return real(descriptor, data)
        if troubles[0]:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:3])  # and then only bits of it at a time

    monkeypatch.setattr(os, "write", full)
    with caplog.at_level(logging.ERROR):
        for n in range(10):
            lines.put(b"line %d\n" % n)
        time.sleep(0.2)
        assert lines.written == 0
        troubles[0] = False
        eventually(lambda: lines.written == 10)
    lines.close()
    assert (tmp_path / "audit").read_text() == "".join(f"line {n}\n" for n in range(10))
    assert lines.lost == 0
    assert caplog.text.count("No space left") == 1, "said once, not at every try"


def test_what_does_not_fit_is_lost_counted_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_log, "AGAIN_SECONDS", 0.01)
    lines = AuditFile(tmp_path / "audit", capacity=5)
    lines.open()

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with caplog.at_level(logging.ERROR), monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        for n in range(8):
            lines.put(json.dumps({"n": n}).encode() + b"\n")
            time.sleep(0.01)
        assert lines.lost == 3
        lines.close()
        assert lines.lost == 8
    assert "3 lines are lost" not in caplog.text
    assert "1 lines are lost" in caplog.text
    assert "8 lines are lost" in caplog.text


def test_putting_a_line_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = AuditFile(tmp_path / "audit")
    lines.open()
    real, going = os.write, [True]

    def slow(descriptor: int, data: bytes) -> int:
        while going[0] and descriptor == lines.descriptor:
            time.sleep(0.01)
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", slow)
    for n in range(1000):
        lines.put(b"%d\n" % n)  # would never return if it waited: the disk answers after the last one
    assert lines.written == 0
    going[0] = False
    lines.close()
    assert lines.written == 1000
