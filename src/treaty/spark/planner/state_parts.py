"""What the state of a query is made of, in words: filters, keys, windows, aggregates, watermarks and joins below its topmost stateful operator.

Two fingerprints say that states differ; these parts say in what. They are for people, and nothing is decided by them.
"""

import re
from collections.abc import Iterator
from typing import Any

from treaty.core.limits import PLAN_PART_CHARACTERS, PLAN_PARTS
from treaty.core.schema import Pairs
from treaty.spark.planner.fingerprints import cut_ids, find_functions
from treaty.spark.planner.trees import read_tree

_GROUPING = re.compile(r"_groupingexpression\w*")
_NOT_NULL = re.compile(r"\((.+) IS NOT NULL\)")
_MADE_NAME = re.compile(r"__auto_generated_subquery_name\.")
_STEPS, _WIDTHS = re.compile(r"% (\d+)L"), re.compile(r"\+ (\d+)L\)")
_TIME = re.compile(r"precisetimestampconversion\(([\w.`]+)\)")
_UNITS = (
    (86_400_000_000, "day"),
    (3_600_000_000, "hour"),
    (60_000_000, "minute"),
    (1_000_000, "second"),
    (1, "microsecond"),
)


def list_state_parts(plan: Any, root: str) -> Pairs:
    """Return kind and text of each part of an optimized plan of the JVM whose topmost node is the stateful operator; from the top down.

    At most PLAN_PARTS of PLAN_PART_CHARACTERS. `root` is the folder of the empty views, which is cut out.
    """
    parts: list[tuple[str, str]] = []
    groups: dict[str, str] = {}
    waiting = [plan]
    while waiting and len(parts) < PLAN_PARTS:
        node = waiting.pop()
        parts += _list_parts(node, groups)
        waiting += [node.children().apply(place) for place in reversed(range(node.children().size()))]
    named = ((kind, _GROUPING.sub(lambda name: groups.get(name[0], name[0]), text)) for kind, text in parts)
    return tuple((kind, _shorten(cut_ids(_MADE_NAME.sub("", text), root))) for kind, text in named)[:PLAN_PARTS]


def _shorten(text: str) -> str:
    return text if len(text) <= PLAN_PART_CHARACTERS else f"{text[: PLAN_PART_CHARACTERS - 1]}…"


def _list_parts(node: Any, groups: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The parts of one node; expressions that stand for a key are noted in `groups` by the name that Spark gives them."""
    match node.getClass().getSimpleName():
        case "Aggregate":
            yield from _list_parts_of_groups(node)
        case "Filter":
            yield from (("filter", text) for text in _list_conditions(node.condition()))
        case "EventTimeWatermark":
            yield "watermark", f"{node.eventTime().sql()} with a delay of {node.delay().toString()}"
        case "Join":
            condition = node.condition()
            on = f" on {condition.get().sql()}" if condition.isDefined() else ""
            yield "join", f"{node.joinType().sql().lower()} join{on}"
        case "Deduplicate" | "DeduplicateWithinWatermark":
            keys = node.keys()
            yield "duplicates", ", ".join(keys.apply(place).sql() for place in range(keys.size()))
        case "Project" | "Expand":
            yield from _list_computed(node, groups)
        case "Union":
            yield "union", f"{node.children().size()} queries"
        case "StreamingRelation" | "StreamingRelationV2" | "LogicalRelation" | "SubqueryAlias" | "LocalRelation":
            pass
        case other:
            yield "operator", other


def _list_parts_of_groups(node: Any) -> Iterator[tuple[str, str]]:
    keys = node.groupingExpressions()
    for place in range(keys.size()):
        if (text := keys.apply(place).sql()) not in {"window", "session_window"}:
            yield "key", text
    texts: set[str] = set()
    for place, expression in enumerate(read_tree(node.toJSON()).members["aggregateExpressions"]):
        for path in find_functions(expression):
            function = node.aggregateExpressions().apply(place)
            for step in path:
                function = function.children().apply(step)
            if (text := function.sql()) not in texts:
                texts.add(text)
                yield "aggregate", text


def _list_conditions(condition: Any) -> list[str]:
    """The conditions that AND joins; those that Spark adds, that a column which another one names is not null, are left out."""
    texts: list[str] = []
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if part.getClass().getSimpleName() == "And":
            waiting += [part.right(), part.left()]
        else:
            texts.append(part.sql())

    def is_added(text: str) -> bool:
        column = _NOT_NULL.fullmatch(text)
        return column is not None and any(column[1] in other for other in texts if other != text)

    return [text for text in texts if not is_added(text)]


def _list_computed(node: Any, groups: dict[str, str]) -> Iterator[tuple[str, str]]:
    expressions = node.expressions()
    windows: set[str] = set()
    for place in range(expressions.size()):
        expression = expressions.apply(place)
        text = expression.sql()
        if "precisetimestampconversion" in text:
            windows.add(_describe_window(text))
        elif expression.getClass().getSimpleName() == "Alias":
            computed = expression.child()
            if _GROUPING.fullmatch(expression.name()):
                groups[expression.name()] = computed.sql()
            elif computed.getClass().getSimpleName() != "AttributeReference":
                yield "column", text
    yield from (("window", text) for text in sorted(windows))


def _describe_window(text: str) -> str:
    """A window in words, from the arithmetic that Spark makes of it."""
    time = _TIME.search(text)
    steps, widths = ([int(one) for one in pattern.findall(text)] for pattern in (_STEPS, _WIDTHS))
    if time is None or not steps or not widths:
        return text
    width, step = max(widths), steps[0]
    every = "" if width == step else f" each {_duration(step)}"
    return f"{_duration(width)} of {time[1]}{every}"


def _duration(microseconds: int) -> str:
    size, unit = next(one for one in _UNITS if microseconds % one[0] == 0)
    number = microseconds // size
    return f"{number} {unit}{'s' if number != 1 else ''}"
