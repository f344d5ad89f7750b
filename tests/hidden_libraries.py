"""A program in which some installed libraries are not found: python -m tests.hidden_libraries LIBRARY[,LIBRARY] < commands.

It reads a JSON list of command lines of `treaty` from stdin, runs each in this process, and prints a JSON list of
``[exit code, stdout, stderr, exception that was not handled]``. Imports fail as in an environment without the library:
the finder of the search path does not find it, so that `find_spec` answers None and `import` raises `ModuleNotFoundError`.
"""

import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class FilteredPathFinder(PathFinder):
    """The finder of `sys.path` that does not find some top-level modules."""

    hidden: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that is not hidden."""
        return None if fullname in cls.hidden else super().find_spec(fullname, path, target)


def hide(names: frozenset[str]) -> None:
    """Hide top-level modules, none of which may be loaded."""
    loaded = names & set(sys.modules)
    assert not loaded, f"{loaded} are loaded already"
    FilteredPathFinder.hidden = names
    sys.meta_path = [FilteredPathFinder if one is PathFinder else one for one in sys.meta_path]


def main() -> None:
    """Run the program."""
    hide(frozenset(sys.argv[1].split(",")))
    from click.testing import CliRunner  # noqa: PLC0415 (after the libraries are hidden)

    from treaty.cli.main import group  # noqa: PLC0415

    results = []
    for words in json.load(sys.stdin):
        done = CliRunner().invoke(group, words, input="")
        wrong = None if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
        results.append([done.exit_code, done.stdout, done.stderr, wrong])
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
