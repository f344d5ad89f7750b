"""What the planner of bodies decides by itself, over trees and texts that Spark printed: no Spark runs here."""

from collections.abc import Sequence
from typing import Any

import pytest

from treaty.core.column_types.limits import BODY_ELEMENTS, BODY_NODES, BODY_WINDOWS
from treaty.core.column_types.tokens import split_tokens
from treaty.core.sources import SourceColumn
from treaty.spark.planner.analyzed_check import has_filter_above, list_aggregates
from treaty.spark.planner.fingerprints import find_functions, find_stateful, has_unprinted
from treaty.spark.planner.keys import find_group_key, find_table_key
from treaty.spark.planner.parsed_check import check_parsed, find_call, find_source, find_words, list_relations
from treaty.spark.planner.questions import BodyRefusedError, ReadableSource
from treaty.spark.planner.trees import TreeNode, list_plans, read_tree

EXPRESSION, PLAN = "org.apache.spark.sql.catalyst.expressions.", "org.apache.spark.sql.catalyst.plans.logical."


def plan(kind: str, *children: TreeNode, **members: Any) -> TreeNode:
    return TreeNode(kind, PLAN + kind, members, children)


def call(name: str, *arguments: TreeNode) -> TreeNode:
    return TreeNode("UnresolvedFunction", EXPRESSION + "UnresolvedFunction", {"nameParts": f"[{name}]"}, arguments)


def literal(value: object) -> TreeNode:
    return TreeNode("Literal", EXPRESSION + "Literal", {"value": str(value)}, ())


def attribute(name: str, number: int) -> TreeNode:
    return TreeNode(
        "AttributeReference", EXPRESSION + "AttributeReference", {"name": name, "exprId": {"id": number}}, ()
    )


def alias(name: str, number: int, child: TreeNode) -> TreeNode:
    return TreeNode("Alias", EXPRESSION + "Alias", {"name": name, "exprId": {"id": number}}, (child,))


def relation(name: str) -> TreeNode:
    class_name = "org.apache.spark.sql.catalyst.analysis.UnresolvedRelation"
    return TreeNode("UnresolvedRelation", class_name, {"multipartIdentifier": f"[{name}]"}, ())


def find_code(tree: TreeNode, text: str = "") -> str:
    try:
        check_parsed(tree, split_tokens(text))
    except BodyRefusedError as refused:
        return refused.code
    return ""


# ------------------------------------------------------------------------------------------------------------ sizes of bodies


@pytest.mark.parametrize(
    ("length", "step", "windows"),
    [("1 hour", "1 minute", 60), ("5 hours", "1 minute", 300), ("301 minutes", "1 minute", 301), ("1 day 1 minute", "5 MINUTES", 288),
     ("2 weeks", "1 day", 14), ("301 milliseconds", "1 millisecond", 301), ("302 microseconds", "1 microsecond", 302), ("1 hour", "0 minutes", 0)],
)  # fmt: skip
def test_a_row_is_in_so_many_windows_and_no_more(length: str, step: str, windows: int) -> None:
    body = plan("Project", projectList=[[call("window", attribute("ts", 1), literal(length), literal(step))]])
    assert find_code(body) == ("BODY_TOO_LARGE" if windows > BODY_WINDOWS else "")
    assert find_code(plan("Project", projectList=[[call("window", attribute("ts", 1), literal(length))]])) == ""


HALF = BODY_ELEMENTS // 2


@pytest.mark.parametrize(
    ("size", "tree"),
    [
        (BODY_ELEMENTS, call("repeat", literal("x"), literal(BODY_ELEMENTS))), (BODY_ELEMENTS, call("space", literal(BODY_ELEMENTS))),
        (BODY_ELEMENTS, call("array_repeat", literal("x"), literal(BODY_ELEMENTS))), (BODY_ELEMENTS, call("lpad", literal("x"), literal(BODY_ELEMENTS))),
        (BODY_ELEMENTS, call("REPEAT", call("repeat", literal("x"), literal(HALF)), literal(2))), (HALF, call("rpad", call("repeat", literal("x"), literal(9)), literal(HALF))),
        (BODY_ELEMENTS, call("sequence", literal(1), literal(BODY_ELEMENTS))), (BODY_ELEMENTS, call("sequence", literal(BODY_ELEMENTS), literal(1))),
        (BODY_ELEMENTS, call("sequence", literal(0), literal(2 * BODY_ELEMENTS - 1), literal(2))), (1, call("sequence", literal(0), literal(9**9), literal(0))),
        (BODY_ELEMENTS, call("format_string", literal(f"%d %% %-{BODY_ELEMENTS}s"), literal(1))),
        (1, call("repeat", literal("x"), attribute("n", 1))), (1, call("upper", literal(9**9))),
    ],
)  # fmt: skip
def test_numbers_of_a_body_make_so_many_elements_and_no_more(size: int, tree: TreeNode) -> None:
    assert find_code(plan("Project", projectList=[[tree]])) == ""
    doubled = plan("Project", projectList=[[call("array_repeat", tree, literal(BODY_ELEMENTS // size + 1))]])
    assert find_code(doubled) == "BODY_TOO_LARGE"


def test_a_sequence_has_both_of_its_ends() -> None:
    for ends in ((1, BODY_ELEMENTS + 1), (BODY_ELEMENTS, 0), (0, 2 * BODY_ELEMENTS, 2), (0, -2 * BODY_ELEMENTS, -2)):
        tree = call("sequence", *map(literal, ends))
        assert find_code(plan("Project", projectList=[[tree]])) == "BODY_TOO_LARGE"


def test_what_with_defines_counts_wherever_it_is_read() -> None:
    def define(parts: int, reads: int) -> TreeNode:
        inner = plan("Filter", *(plan("OneRowRelation") for _ in range(parts - 1)))
        main = plan("Union", *(relation("T") for _ in range(reads)))
        return plan("UnresolvedWith", main, cteRelations=[{"_1": "t", "_2": inner}])

    reads = (BODY_NODES - 2) // 99
    assert find_code(define(99, reads)) == ""
    assert find_code(define(99, reads + 1)) == "BODY_TOO_LARGE"
    assert find_code(define(99, 0)) == ""
    body = plan("Join", define(2, 1), relation("Flights"))
    assert list_relations(body, []) == ("Flights",)


def test_words_are_found_at_their_place() -> None:
    text = "SELECT uuid, Uuid(), `uuid`() FROM STREAM a, b JOIN `c d` ORDER BY x"
    tokens = split_tokens(text)
    assert find_call(tokens, "uuid") == tokens[3]
    assert find_call(tokens, "order") is not None
    assert find_call(tokens, "nothing") is None
    for name, words in {"A": "a", "b": "b", "C D": "`c d`"}.items():
        start, end = find_source(tokens, name)
        assert text[start:end] == words
    assert find_source(tokens, "x") == (-1, -1)
    assert [text[slice(*find_words(tokens, "Sort"))], find_words(tokens, "Offset")] == ["ORDER BY", (-1, -1)]
    assert find_words(split_tokens("SORT BY a ORDER BY b"), "Sort") == (-1, -1), "it is one of them"


# -------------------------------------------------------------------------------------------------------- trees of Spark's plans


def test_trees_are_walked_from_the_top_with_what_is_inside_of_a_node_behind_what_is_below() -> None:
    text = (
        '[{"class": "a.plans.logical.Top", "num-children": 2, "condition": [{"class": "x.Exists", "num-children": 0, "plan": '
        '[{"class": "a.plans.logical.Inner", "num-children": 0}]}], "exprId": {"id": 7}}, {"class": "a.plans.logical.Left$", "num-children": 1}, '
        '{"class": "a.plans.logical.Below", "num-children": 0}, {"class": "a.plans.logical.Right", "num-children": 0}]'
    )
    tree = read_tree(text)
    assert [one.kind for one in tree.walk()] == ["Top", "Left", "Below", "Right", "Exists", "Inner"]
    assert [one.kind for one in list_plans(tree)] == ["Top", "Left", "Below", "Right", "Inner"]
    assert [one.kind for one in list_plans(tree, subqueries=False)] == ["Top", "Left", "Below", "Right"]
    assert (tree.expr_id, tree.children[0].expr_id, tree.has("Inner"), tree.has("Else")) == (7, -1, True, False)


STREAM, TABLE = plan("StreamingRelation"), plan("LogicalRelation")


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        (plan("Project", plan("Filter", STREAM)), None), (plan("Project", plan("Aggregate", STREAM)), (0,)),
        (plan("Project", plan("Aggregate", TABLE)), None), (plan("Join", STREAM, STREAM), ()), (plan("Join", STREAM, TABLE), None),
        (plan("Join", STREAM, plan("Project", plan("Aggregate", STREAM))), ()), (plan("Join", plan("Distinct", STREAM), TABLE), (0,)),
        (plan("Union", STREAM, plan("Project", plan("Deduplicate", STREAM))), (1, 0)),
        (plan("Filter", plan("Union", plan("Aggregate", STREAM), plan("DeduplicateWithinWatermark", STREAM))), (0,)),
    ],
)  # fmt: skip
def test_the_state_of_a_plan_is_that_of_its_topmost_stateful_operators(
    tree: TreeNode, path: tuple[int, ...] | None
) -> None:
    assert find_stateful(tree) == path


def test_aggregate_functions_and_what_text_does_not_show_are_found_inside() -> None:
    function = TreeNode("AggregateExpression", EXPRESSION + "AggregateExpression", {}, (literal(1),))
    tree = call("plus", call("upper", literal(2), function), function, literal(3))
    assert [*find_functions(tree)] == [(0, 1), (1,)]
    for kind, found in {"InSet": True, "LocalRelation": True, "LikeAny": True, "EqualTo": False, "In": False}.items():
        assert has_unprinted([[{"class": "a.b.Top", "x": {"y": [{"class": f"a.b.{kind}"}]}}]]) == found
    for data_type, found in (("binary", True), ({"type": "array"}, True), ("string", False)):
        assert has_unprinted({"class": "a.Literal", "dataType": data_type}) == found
        assert not has_unprinted({"class": "a.Cast", "dataType": data_type})


@pytest.mark.parametrize("above", ["Filter", "Join", "Generate", "LateralJoin", "Project", "SubqueryAlias"])
def test_rows_of_groups_may_be_taken_away_by_what_stands_above_them(above: str) -> None:
    groups, takes = plan("Aggregate", plan("Filter", STREAM)), above not in {"Project", "SubqueryAlias"}
    for tree in (plan(above, groups), plan("Project", plan(above, plan("Project", groups)))):
        assert has_filter_above(tree, groups) == takes
        assert list_aggregates(tree) == [groups]
    beside = plan("Union", plan(above, STREAM), groups)
    assert not has_filter_above(beside, groups)


# ----------------------------------------------------------------------------------------------------------- keys of results

WINDOW = call("window", attribute("ts", 1), literal(60))
START, END = (
    TreeNode(
        "GetStructField", EXPRESSION + "GetStructField", {"name": one, "ordinal": place}, (attribute("window", 9),)
    )
    for place, one in enumerate(("start", "end"))
)


def group_by(groups: Sequence[TreeNode], results: Sequence[TreeNode]) -> TreeNode:
    lists = {"groupingExpressions": [[one] for one in groups], "aggregateExpressions": [[one] for one in results]}
    return plan("Aggregate", STREAM, **lists)


def test_a_key_is_the_columns_of_the_groups_in_their_order() -> None:
    a, b = attribute("a", 2), attribute("b", 3)
    groups = group_by([b, a], [alias("x", 12, a), alias("n", 13, call("count", b)), alias("y", 14, b)])
    assert find_group_key(groups, groups, ("x", "n", "y")) == ("y", "x")
    above = plan(
        "Project", plan("Filter", groups), projectList=[[alias("k", 20, attribute("y", 14))], [attribute("x", 12)]]
    )
    assert find_group_key(above, groups, ("k", "x")) == ("k", "x")
    for lost in (plan("Project", groups, projectList=[[attribute("x", 12)]]), group_by([b, a], [alias("x", 12, a)])):
        bottom = groups if lost.kind == "Project" else lost
        with pytest.raises(BodyRefusedError, match="the query groups by b, and b does not come out"):
            find_group_key(lost, bottom, ("x",))
    with pytest.raises(BodyRefusedError, match="an aggregate without GROUP BY has no key"):
        find_group_key(group_by([], [a]), group_by([], [a]), ("a",))
    window = attribute("window", 9)
    for part in (START, END):
        timed = group_by([window, a], [alias("n", 13, call("count", b)), alias("at", 15, part), a])
        assert find_group_key(timed, timed, ("n", "at", "a")) == ("at", "a")
    both = group_by([window], [alias("at", 15, END), alias("w", 16, window)])
    assert find_group_key(both, both, ("at", "w")) == ("w",), "the window itself comes first"


def test_a_query_over_a_table_keeps_the_tables_whole_key() -> None:
    columns = tuple(SourceColumn(name, "INT", role=role) for name, role in (("B", "key"), ("v", "value"), ("a", "key")))
    source = ReadableSource("t", "TABLE", 1, columns)
    read = plan("LogicalRelation", output=[[attribute(name, place)] for place, name in enumerate(("b", "v", "a"))])
    tree = plan(
        "Project", read, projectList=[[attribute("a", 2)], [alias("k", 7, attribute("b", 0))], [attribute("v", 1)]]
    )
    assert find_table_key(tree, source, ("a", "k", "v")) == ("k", "a")
    with pytest.raises(BodyRefusedError, match="a is of the key of t, and does not come out"):
        find_table_key(plan("Project", read, projectList=[[attribute("b", 0)]]), source, ("b",))
    with pytest.raises(BodyRefusedError, match="t has no key"):
        find_table_key(tree, ReadableSource("t", "TABLE", 1, columns[1:2]), ("a", "k", "v"))
