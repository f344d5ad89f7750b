"""Every folder of tests has a budget, and what a run took is told beside it."""

from tests.costs import BUDGETS, Cost, budgets, folders, table

ROOT = BUDGETS.parents[1]


def test_every_folder_of_tests_has_a_budget_and_no_other_has() -> None:
    tests = (path for folder in ("tests", "plugins") for path in (ROOT / folder).rglob("test_*.py"))
    there = {path.parent.relative_to(ROOT).as_posix() for path in tests}
    named = {name: {*one} for name, one in budgets().items()}

    assert named["check"] | named["test"] | named["jvm"] == there
    assert all(some <= there for some in named.values())


def test_what_costs_more_than_its_budget_is_marked() -> None:
    tests = {
        "a/test_x.py::t": Cost(1, 9.0, 1.5),
        "a/test_y.py::t[1::2]": Cost(1, 1.0, 1.0),
        "b/c/test_z.py::t": Cost(1, 5.0, 4.0),
    }
    lines = [line.split() for line in table(folders(tests), {"a": 2.0, "b/c": 4.0, "d": 1.0})]

    assert lines == [
        ["folder", "tests", "seconds", "CPU", "budget"],
        ["b/c", "1", "5.0", "4.0", "4"],
        ["a", "2", "10.0", "2.5", "2", "over"],
        ["d", "0", "0.0", "0.0", "1"],
        ["all", "3", "15.0", "6.5", "7"],
    ]
    assert table({"new": Cost(1, 1.0, 1.0)}, {})[1].endswith("no budget")


def test_make_looks_for_tests_with_a_jvm_where_they_are() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    (patterns,) = [line.split()[2:] for line in lines if line.startswith("JVM_TESTS = ")]
    named = {path for pattern in patterns for path in ROOT.glob(pattern)}
    files = (
        path
        for folder in ("tests", "plugins")
        for path in (ROOT / folder).rglob("*.py")
        if "house" not in path.relative_to(ROOT).parts
    )
    there = {path for path in files if "mark.jvm" in path.read_text("utf-8")}

    assert len(there) > 50
    assert {str(path) for path in there if not named & {path, *path.parents}} == set()
    assert {
        folder
        for folder in budgets()["jvm"]
        if not named & {ROOT / folder, *(ROOT / folder).parents, *(ROOT / folder).iterdir()}
    } == set()
