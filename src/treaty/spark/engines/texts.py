"""Texts that are none: Spark takes any bytes for a string of Avro, and whoever reads its column later meets them.

All texts of a record are joined and tested once: a test of its own for each field would be an expression of a thousand terms, which
neither Spark's analyzer nor its generated code is made for. An ASCII character between them keeps a cut character from being completed by
the next text, so the whole is UTF-8 exactly when each part is. `concat_ws` leaves nulls out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroType,
    AvroUnion,
    NamedType,
)
from treaty.plan.avro.columns import members
from treaty.plan.avro.flat import is_null
from treaty.plan.registry_queries import parse_avro
from treaty.spark.engines.engine import join_conditions

BETWEEN = "\x00"


def find_wrong_text(reader_text: str, value: Column) -> Column | None:
    """Whether a value of a reader's type holds a text that is no UTF-8; never null. None where it can hold no text."""
    reader = parse_avro(reader_text)
    return _test_texts(reader.root, reader.names, value)


def _test_texts(node: AvroType, names: Mapping[str, NamedType], value: Column) -> Column | None:
    texts = _TextCollector(names)
    texts.add(node, value)
    return texts.condition()


@dataclass(frozen=True, slots=True)
class _TextCollector:
    """Texts and lists of texts outside of other lists, and the tests of what lies in lists of something else."""

    names: Mapping[str, NamedType]
    texts: list[Column] = field(default_factory=list)
    tests: list[Column] = field(default_factory=list)

    def add(self, node: AvroType, value: Column) -> None:
        """Collect the texts of a value of this type."""
        match node:
            case AvroReference():
                found = self.names[node.full]
                if isinstance(found, AvroRecord):
                    self.add(found, value)
            case AvroRecord():
                for member in node.fields:
                    self.add(member.type, value[member.name])
            case AvroArray():
                self._add_items(node.items, value)
            case AvroMap():
                self.texts.append(F.map_keys(value))
                self._add_items(node.values, F.map_values(value))
            case AvroUnion():
                parts = [one for one in node.branches if not is_null(one)]
                named = members(node, self.names)
                if named is not None:
                    for one, name in zip(parts, named, strict=True):
                        self.add(one, value[name])
                elif parts:
                    self.add(parts[-1], value)
            case AvroPrimitive():
                if node.kind == "string":
                    self.texts.append(value)

    def _add_items(self, node: AvroType, items: Column) -> None:
        """Collect the texts of a list; null has none."""
        if self._is_text(node):
            self.texts.append(items)
            return
        found: list[Column] = []

        def test(item: Column) -> Column:
            made = _test_texts(node, self.names, item)
            found.extend([] if made is None else [made])
            return F.lit(False) if made is None else made

        made = F.coalesce(F.exists(items, test), F.lit(False))
        if found:
            self.tests.append(made)

    def _is_text(self, node: AvroType) -> bool:
        """Whether a type's column is one of strings that Avro does not check itself."""
        if isinstance(node, AvroUnion):
            parts = [one for one in node.branches if not is_null(one)]
            return len(parts) == 1 and self._is_text(parts[0])
        return isinstance(node, AvroPrimitive) and node.kind == "string"

    def condition(self) -> Column | None:
        """Whether one of the texts is no UTF-8; None where there is none."""
        tests = list(self.tests)
        if self.texts:
            tests.insert(0, ~F.is_valid_utf8(F.concat_ws(BETWEEN, *self.texts)))
        return join_conditions(tests, Column.__or__) if tests else None
