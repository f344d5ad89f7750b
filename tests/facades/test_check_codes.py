"""The exit code of `treaty check` over several files of a git repository."""

import json
from itertools import product

import pytest

import treaty
from tests.commands import run
from tests.facades.test_check_git_command import BROKEN, MORE, OLD, WIDER, Repository, repository

__all__ = ["repository"]
CODES = {WIDER: 0, MORE: 1, BROKEN: 2}
"""What becomes of a schema, and the exit code that says so of it alone."""


@pytest.mark.parametrize(
    "texts", [*product(CODES, repeat=2)], ids=lambda texts: "-".join(str(CODES[text]) for text in texts)
)
@pytest.mark.parametrize("asks", ["a registry", "the revision"])
def test_the_exit_code_is_that_of_the_worst_file_whatever_their_order(
    repository: Repository, asks: str, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "ab"
    repository.commit(**dict.fromkeys(names, OLD))
    for name, text in zip(names, texts, strict=True):
        repository.write(f"{name}.avsc", text)
    repository.git("add", "-A")
    monkeypatch.chdir(repository.folder)
    words = ["--git-base", "HEAD"]
    if asks == "a registry":
        url = f"sqlite://{repository.folder}/registry.db"
        words = ["--staged", "--subject", "{name}-value", "--registry", url]
        with treaty.connect(url) as registry:
            for name in names:
                registry.register(f"{name}-value", OLD)
    in_words = run("check", *words)
    as_json = run("check", *words, "--json")

    worst = max(CODES[text] for text in texts)
    assert (in_words.exit_code, as_json.exit_code) == (worst, worst), in_words.output
    assert json.loads(as_json.stdout)["fits"] is (worst == 0)
