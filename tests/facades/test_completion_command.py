"""`treaty completion`, and what shells are offered: by a real bash, and by the words that zsh and fish exchange."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from tests.behaviours.scripted import Say, Seen, scripted
from treaty.cli.completion import VARIABLE
from treaty.cli.main import group

BIN = Path(sys.executable).parent
SUBJECTS = Say(200, ["bills-value", "orders-key", "orders-value"], (("Treaty-Position", "aa.1.bb"),))

BASH = """
source {script}
COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
_treaty_completion treaty
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TREATY_")}
    return {**kept, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}


def in_bash(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Complete the last word in a real bash, as if somebody had pressed the key."""
    script = folder / "treaty.bash"
    if not script.exists():
        script.write_text(CliRunner().invoke(group, ["completion", "bash"]).output)
    text = BASH.format(script=script, line=" ".join(words))
    return subprocess.run(
        ["bash", "--norc", "-c", text], env=environment(**more), capture_output=True, text=True, check=True, timeout=60
    )


def test_bash_completes_commands_options_and_subjects(tmp_path: Path) -> None:
    with scripted(SUBJECTS) as server:
        told = {"TREATY_REGISTRY": server.url}
        assert in_bash(tmp_path, "treaty", "sub", **told).stdout.split() == ["subject"]
        assert not server.seen
        assert in_bash(tmp_path, "treaty", "subject", "get", "ord", **told).stdout.split() == [
            "orders-key",
            "orders-value",
        ]
        assert "subjectPrefix=ord" in server.seen[0].target
        found = in_bash(tmp_path, "treaty", "config", "set", "--registry", server.url, "bills", TREATY_REGISTRY="")
        assert found.stdout.split() == ["bills-value"]
        assert in_bash(tmp_path, "treaty", "check", "--subject", "orders-k", **told).stdout.split() == ["orders-key"]


def test_bash_ends_words_at_colons(tmp_path: Path) -> None:
    with scripted(Say(200, [":.prod:orders-key", ":.prod:orders-value"])) as server:
        found = in_bash(tmp_path, "treaty", "subject", "get", ":.prod:ord", TREATY_REGISTRY=server.url)
        assert found.stdout.split() == ["orders-key", "orders-value"]
        assert "subjectPrefix=%3A.prod%3Aord" in server.seen[0].target


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str) -> None:
    done = CliRunner().invoke(group, ["completion", shell])
    assert done.exit_code == 0
    assert f"_TREATY_COMPLETE={shell}_complete" in done.output
    assert "treaty" in done.output


def test_there_is_none_for_other_shells() -> None:
    done = CliRunner().invoke(group, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in done.output


def test_zsh_and_fish_are_told_subjects() -> None:
    with scripted(SUBJECTS) as server:
        told = environment(TREATY_REGISTRY=server.url)
        words = {"zsh": {"COMP_CWORD": "3"}, "fish": {"COMP_CWORD": "orders-v"}}
        for shell, more in words.items():
            asked = told | more | {"_TREATY_COMPLETE": f"{shell}_complete", "COMP_WORDS": "treaty subject get orders-v"}
            done = subprocess.run([BIN / "treaty"], env=asked, capture_output=True, text=True, check=True, timeout=60)
            assert "orders-value" in done.stdout
            assert "bills" not in done.stdout


def hanging() -> Callable[[Seen], Say]:
    over = threading.Event()

    def wait(_: Seen) -> Say:
        over.wait(5)
        return SUBJECTS

    return wait


@pytest.mark.parametrize(
    "trouble",
    [Say(401, {"error_code": 40101, "message": "who?"}), Say(500, b""), Say(200, b"<html>"), hanging()],
    ids=["rights", "broken", "no registry", "hangs"],
)
def test_a_person_who_types_is_not_told_of_troubles(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], trouble: Say | Callable[[Seen], Say]
) -> None:
    with scripted(trouble) as server:
        for url in (server.url, server.url.replace("//", "//me@"), "http://127.0.0.1:9", "nonsense", "memory:", ""):
            monkeypatch.setenv("TREATY_REGISTRY", url)
            monkeypatch.setenv("COMP_WORDS", "treaty subject get ord")
            monkeypatch.setenv("COMP_CWORD", "3")
            assert BashComplete(group, {}, "treaty", VARIABLE).complete() == ""
        assert len(server.seen) == 2
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", "")


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("treaty lint --rule union_s", 3, "plain,UNION_SINGLE"),
        ("treaty config set --validator DOC", 4, "plain,DOC_MISSING"),
    ],
)
def test_ids_of_lints_are_completed(monkeypatch: pytest.MonkeyPatch, line: str, word: int, expected: str) -> None:
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(word))

    assert BashComplete(group, {}, "treaty", VARIABLE).complete() == expected


@pytest.mark.parametrize("line", ["treaty schema get orders-v", "treaty produce t --subject orders-v"])
def test_subjects_are_completed_wherever_one_is_meant(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    with scripted(SUBJECTS) as server:
        monkeypatch.setenv("TREATY_REGISTRY", server.url)
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))

        assert "plain,orders-value" in BashComplete(group, {}, "treaty", VARIABLE).complete()
