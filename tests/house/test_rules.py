"""Each rule of the house bites: a planted offender is named, its decent neighbour is not."""

import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.house import names, ratchet, rules

ROOT = Path(__file__).parents[2]
STANDARD = frozenset(sys.stdlib_module_names)


def module(path: str, text: str) -> rules.Module:
    return rules.Module(PurePosixPath(path), text)


DECENT = module("src/treaty/core/names.py", '"""Names."""\n\nimport json\n\nN = json.dumps(1)\n')


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (rules.long_files, "src/treaty/core/long.py", '"""Long."""\n' + "A = 1\n" * 400),
        (rules.long_functions, "src/treaty/core/deep.py", '"""Deep."""\ndef f():\n' + "    g()\n" * 51),
        (rules.silent_modules, "src/treaty/core/silent.py", "A = 1\n"),
        (rules.drawers, "src/treaty/core/utils.py", '"""Things."""\n'),
        (rules.drawers, "src/treaty/helpers/avro.py", '"""Things."""\n'),
        (rules.busy_doorways, "src/treaty/core/__init__.py", '"""Core."""\nA = 1\n'),
        (rules.heirs, "src/treaty/core/heir.py", '"""Heirs."""\nclass A: ...\nclass B(A): ...\n'),
        (rules.unused_limits, "src/treaty/core/limits.py", '"""Limits."""\nA = 1\nB = 2\nC = B\nprint(C)\n'),
        (names.vague_bindings, "src/treaty/node/x.py", '"""X."""\ndef f(size):\n    found = [one for one in size]\n'),
        (names.unknown_names, "src/treaty/core/x.py", '"""Calls `Long.gone`, `x` and ``theirs``."""\n'),
        (rules.excuses, "tests/test_x.py", '"""X."""\n@pytest.' + 'mark.skip("later")\ndef test_x(): ...\n'),
    ],
    ids=[
        "file",
        "function",
        "silent",
        "drawer",
        "drawer folder",
        "doorway",
        "heir",
        "limit",
        "binding",
        "name",
        "excuse",
    ],
)
def test_an_offender_is_named(rule: rules.Rule, path: str, text: str) -> None:
    offenders = list(rule([DECENT, module(path, text)]))

    assert len(offenders) == 1
    assert offenders[0].startswith(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(sizes):\n    return [\n        one for one in sizes\n    ]\n", 4),
        ("SIZES = {\n    one: 1\n    for one in range(9)\n}\n", 4),
        ("def f(sizes):\n    return sorted(sizes, key=lambda one: (\n        one.number, one.name\n    ))\n", 3),
        ("SIZES = [\n    [one for one in part]\n    for part, known in pairs(lambda one: one)\n]\n", 4),
        ("for one in SIZES:\n    add(one)\n", 2),
    ],
    ids=["list", "dict of a module", "lambda", "outer one", "loop of a module"],
)
def test_a_loop_and_a_comprehension_or_lambda_of_several_lines_name_what_they_go_through(text: str, line: int) -> None:
    offender = module("src/treaty/spark/sizes.py", f'"""Sizes."""\n{text}')
    short = module(
        "src/treaty/spark/short.py", '"""Short."""\nSIZES = sorted([one for one in P], key=lambda one: -one)\n'
    )

    assert [name.rpartition(" ")[0] for name in names.vague_bindings([short, offender])] == [
        f"src/treaty/spark/sizes.py:{line}"
    ]


def test_a_crowded_folder_is_named() -> None:
    crowd = [module(f"src/treaty/core/m{n}.py", '"""M."""\n') for n in range(20)]

    assert list(rules.crowded_folders([DECENT, *crowd])) == ["src/treaty/core"]
    assert not list(rules.crowded_folders(crowd))


def test_a_folder_of_two_is_named_and_one_that_holds_folders_is_not() -> None:
    pair = [module(f"src/treaty/core/law/m{n}.py", '"""M."""\n') for n in range(2)]
    doorway = module("src/treaty/core/law/__init__.py", '"""Law."""\n')

    assert list(rules.thin_folders([DECENT, doorway, *pair])) == ["src/treaty/core/law"]
    assert not list(rules.thin_folders([DECENT, doorway, *pair, module("src/treaty/core/law/m2.py", '"""M."""\n')]))


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("src/treaty/core/access/rights.py", "from treaty.core.names import N"),
        ("src/treaty/core/access/rights.py", "from treaty.core import names"),
        ("src/treaty/core/access/rights.py", "import treaty.core.names"),
    ],
)
def test_a_small_module_with_one_importer_is_named(importer: str, line: str) -> None:
    one, two = module(importer, f"{line}\n"), module("src/treaty/core/state/rows.py", f"{line}\n")
    other_room = module("src/treaty/node/rights.py", f"{line}\n")
    long = module(str(DECENT.path), DECENT.text + "\n" * 40)

    assert list(rules.thin_modules([DECENT, one])) == [f"{DECENT.path}: only treaty.core.access.rights imports it"]
    assert not list(rules.thin_modules([DECENT, one, two]))
    assert not list(rules.thin_modules([DECENT, other_room]))
    assert not list(rules.thin_modules([long, one]))


def test_the_ratchet_turns_one_way() -> None:
    numbers = ratchet.Ratchet({"rule": {"core": 2, "log": 2}}, frozenset({"log"}))
    paths = [f"src/treaty/{name}.py" for name in ("core/a", "core/b", "log/a", "log/b")]

    assert not list(ratchet.broken(numbers, "rule", paths))
    assert not list(ratchet.broken(numbers, "rule", paths[:3])), "a room in work may have fewer"
    assert "lower it to 1" in "".join(ratchet.broken(numbers, "rule", paths[1:]))
    assert "core has 3" in "".join(ratchet.broken(numbers, "rule", [*paths, "src/treaty/core/c.py"]))
    assert "log has 3" in "".join(ratchet.broken(numbers, "rule", [*paths, "src/treaty/log/c.py"]))
    assert "docs has 1" in "".join(ratchet.broken(numbers, "rule", [*paths, "docs/howto/x.md:3"]))


GLOSSARY = names.Glossary(
    frozenset({"snapshot", "commit", "framing"}),
    {"fold": "snapshot", "told": "return"},
    {"fold": "snapshot", "the law": "the rules"},
)
CLEAN = module(
    "src/treaty/core/framing.py",
    '"""Framing."""\n'
    "class Commits: ...\nclass _Entry: ...\nclass Register(Request[int]): ...\nclass StateError(Exception): ...\n"
    "class LateError(StateError): ...\n"
    "def seed(folder): ...\ndef is_shown(): ...\ndef fail(): raise StateError(fold, 'the lawn: `x`')\n",
)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (names.retired_names, "class StateFold: ..."),
        (names.retired_names, "def read_told(): ..."),
        (names.retired_names, "def read(fold): ..."),
        (names.retired_names, "def outer():\n    async def _fold(): ..."),
        (names.vague_classes, "class Verdict: ..."),
        (names.vague_classes, "class _Maker: ..."),
        (names.retired_messages, "def f(): raise ValueError(f'{x} is a FOLD')"),
        (names.retired_messages, "log.warning('%s breaks the law', x)"),
        (names.retired_docstrings, 'def f():\n    """A fold of `folds` and ``fold``."""'),
    ],
)
def test_a_word_that_the_glossary_retires_is_named(rule: names.WordRule, text: str) -> None:
    offender = module("src/treaty/log/state.py", f'"""State."""\n{text}\n')

    (named,) = rule([CLEAN, offender], GLOSSARY)

    assert named.startswith("src/treaty/log/state.py:")


@pytest.mark.parametrize("path", ["src/treaty/log/reading.py", "src/treaty/log/reading/__init__.py"])
def test_a_module_that_is_a_verb_is_named(path: str) -> None:
    assert list(names.verbal_modules([CLEAN, module(path, '"""R."""\n')], GLOSSARY)) == [path]


def test_a_retired_word_in_the_path_is_named() -> None:
    assert "fold:" in next(names.retired_names([CLEAN, module("src/treaty/log/fold.py", '"""F."""\n')], GLOSSARY))


@pytest.mark.parametrize("name", ["told", "_shown", "never", "opened", "_wanted"])
def test_a_function_without_a_verb_is_named(name: str) -> None:
    text = f'"""State."""\ndef {name}(): ...\nclass A:\n    @property\n    def {name}(self): ...\n    def {name}(self): ...\n'
    vague = module("src/treaty/log/state.py", text)

    assert list(names.vague_functions([CLEAN, vague])) == [f"src/treaty/log/state.py:{line} {name}" for line in (2, 6)]


def test_an_error_without_its_suffix_is_named() -> None:
    unfit = module("src/treaty/log/state.py", '"""State."""\nclass Unfit(StateError): ...\n')
    refusals = module(
        "src/treaty/core/refusals.py", '"""R."""\nclass Refusal(Exception): ...\nclass NotFound(Refusal): ...\n'
    )

    assert list(names.nameless_errors([CLEAN, refusals, unfit])) == ["src/treaty/log/state.py:2 Unfit"]


def test_a_class_name_in_two_modules_is_named_once_in_the_higher_room() -> None:
    one = module("src/treaty/core/state/rows.py", '"""R."""\nclass Shape: ...\n')
    two = module("src/treaty/log/kafka/topic.py", '"""T."""\nclass Shape: ...\n')
    private = module("src/treaty/log/memory.py", '"""M."""\nclass _Shape: ...\n')

    assert list(names.shared_class_names([two, one, private])) == [
        "src/treaty/log/kafka/topic.py: Shape is also in treaty.core.state.rows"
    ]


def test_formats_may_share_class_names_but_one_format_may_not_use_one_twice() -> None:
    avro, protobuf, again = (
        module(f"src/treaty/formats/{path}.py", '"""M."""\nclass Field: ...\n')
        for path in ("avro/model", "protobuf/model", "avro/lint")
    )

    assert not list(names.shared_class_names([avro, protobuf]))
    assert len(list(names.shared_class_names([avro, protobuf, again]))) == 2


def test_a_retired_word_in_a_document_is_named_and_code_is_not_read() -> None:
    text = "One fold.\n\n```\na fold\n```\n`fold` and folder\nwhere the\nlaw and The law\n"

    assert [line.split(" ")[0] for line in names.retired_texts([("docs/a.md", text)], GLOSSARY)] == [
        "docs/a.md:1",
        "docs/a.md:8",
    ]
    assert len(list(names.retired_texts([("docs/reference/commands.md", text)], GLOSSARY))) == 4


def test_errors_and_protocols_may_have_heirs() -> None:
    text = (
        '"""Errors."""\nclass Refusal(Exception): ...\nclass NotFound(Refusal): ...\n'
        "class Log(Protocol): ...\nclass Wide(Log, Protocol): ...\n"
    )

    assert not list(rules.heirs([module("src/treaty/core/refusals.py", text)]))


@pytest.mark.parametrize("library", ["pyspark.sql", "starlette", "sqlite3", "not_a_dependency"])
def test_a_library_in_a_strange_room_is_named(library: str) -> None:
    stranger = module("src/treaty/core/stranger.py", f'"""S."""\nimport {library}\n')

    assert list(rules.strangers([DECENT, stranger], STANDARD)) == [
        f"src/treaty/core/stranger.py: {library.split('.', maxsplit=1)[0]}"
    ]


def test_addresses_are_named() -> None:
    texts = [("a", "see /ho" + "me/me/x"), ("b", "https://py" + "pi.org/simple"), ("c", "GET /subjects/work/versions")]

    assert list(rules.addresses(texts)) == ["a:1", "b:1"]


def test_loose_pins_are_named() -> None:
    loose = [
        "click>=8",
        "click @ https://host/click.whl",
        "--index-url https://host",
        "rich==15.0.0",
        "idna==3.20 \\",
        "  end",
    ]
    right = ["# why", "click==8.5.1 \\", f"    --hash=sha256:{'a' * 64}"]
    marked = [
        "uvloop==0.23.0 ; sys_platform != 'win32' \\",
        *[f"    --hash=sha256:{'b' * 64} \\"] * 2,
        f"    --hash=sha256:{'c' * 64}",
    ]

    assert list(rules.loose_pins("\n".join([*right, *loose, *marked]))) == loose


def test_dead_links_are_named() -> None:
    documents = [("docs/a.md", "[b](b.md) [c](../c.md#part) [web](https://example.org)")]

    assert list(rules.dead_links(documents, lambda path: path == PurePosixPath("docs/b.md"))) == ["docs/a.md: ../c.md"]


def test_planted_imports_break_the_contracts(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    treaty = tmp_path / "src" / "treaty"
    (treaty / "drawer").mkdir()
    (treaty / "drawer" / "__init__.py").write_text("")
    (treaty / "core" / "planted.py").write_text("import time\nimport msgspec\nimport treaty.formats.format\n")

    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(
        [linter, "--no-cache"], cwd=tmp_path, env={"PYTHONPATH": "src"}, capture_output=True, text=True, check=False
    )

    assert run.returncode == 1
    assert {line.rsplit(" ", 1)[0] for line in run.stdout.splitlines() if line.endswith(" BROKEN")} == {
        "Rooms are stacked, and every room is on the list",
        "No cycles, at any depth",
        "Core and formats touch no outside world",
        "Core needs nothing but the standard library",
    }
