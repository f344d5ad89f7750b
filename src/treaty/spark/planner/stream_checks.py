"""What Spark itself says about a plan over streams before it starts: the modes in which it can run, and whether its joins forget rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from treaty.spark.jvm_start import find_class
from treaty.spark.planner.analyzed_check import is_streaming
from treaty.spark.planner.trees import TreeNode, read_tree

WATERMARK = 10**12
"""A watermark in ms that is asked about: any but 0, and larger than an INT, so that it reaches the JVM as a LONG."""


@dataclass(frozen=True, slots=True)
class StreamChecks:
    """An analyzed plan with what was defined by WITH put in its places: as an object of the JVM, and as a tree."""

    spark: SparkSession
    plan: Any
    tree: TreeNode

    @classmethod
    def of(cls, spark: SparkSession, frame: DataFrame) -> "StreamChecks":
        """Return the checks of a frame."""
        inline = find_class(spark, "org.apache.spark.sql.catalyst.optimizer.InlineCTE")
        analyzed = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        plan = inline(True, False).apply(analyzed)
        return cls(spark, plan, read_tree(plan.toJSON()))

    def find_error(self, mode: str) -> PySparkException | None:
        """Return why a plan can't run in a mode (``append``, ``update``); None where it can."""
        modes = find_class(self.spark, "org.apache.spark.sql.streaming.OutputMode")
        checker = find_class(self.spark, "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker")
        output_mode = modes.Append() if mode == "append" else modes.Update()
        try:
            checker.checkForStreaming(self.plan, output_mode)
        except PySparkException as error:
            return error
        return None

    def has_endless_join(self) -> bool:
        """Return whether a join of streams keeps rows of one of its sides for ever."""
        return any(map(self._is_endless, _list_joins(self.tree, self.plan)))

    def list_without_watermark(self) -> tuple[str, ...]:
        """Return the names, in small letters, of the streams without a watermark."""
        names: dict[str, None] = {}
        waiting = [(self.tree, False)]
        while waiting:
            node, has_mark = waiting.pop()
            has_mark = has_mark or node.kind == "EventTimeWatermark"
            if node.kind == "View":
                if is_streaming(node) and not has_mark and not node.has("EventTimeWatermark"):
                    names[str(node.members["desc"]["identifier"]["table"]).lower()] = None
                continue
            waiting += [(child, has_mark) for child in reversed(node.children)]
        return tuple(names)

    def _is_endless(self, join: Any) -> bool:
        helper = find_class(self.spark, "org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper")
        if helper.isWatermarkInJoinKeys(join):
            return False
        left, right = join.left().outputSet(), join.right().outputSet()
        some = find_class(self.spark, "scala.Some")(WATERMARK)
        sides = ((left, right), (right, left))
        return any(
            helper.getStateValueWatermark(side, other, join.condition(), some).isEmpty() for side, other in sides
        )


def _list_joins(tree: TreeNode, plan: Any) -> Iterator[Any]:
    """The joins of streams with streams, as objects of the JVM."""
    waiting = [(tree, plan)]
    while waiting:
        node, jvm_plan = waiting.pop()
        if node.kind == "Join" and all(map(is_streaming, node.children)):
            yield jvm_plan
        if any(one.kind == "Join" for one in node.walk()):
            waiting += [(child, jvm_plan.children().apply(place)) for place, child in enumerate(node.children)]
