"""Texts that are none: Spark takes any bytes for a string of Avro, which fail later readers of its column.

Texts in lists are joined and tested once, and so are those of more than `FEW` fields: a test of its own for each would be an expression of a
thousand terms, which neither Spark's analyzer nor its generated code is made for. An ASCII character between them keeps a cut character from being completed by
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
    is_null,
)
from treaty.plan.avro.columns import members
from treaty.plan.avro.flat import parse_avro
from treaty.spark.engines.engine import join_conditions
from treaty.spark.engines.method_size import leave_whole_stage

BETWEEN = "\x00"
FEW, FEW_TOGETHER = 16, 100
"""Fields that are tested one by one, which saves a copy of their texts, and those of which one generated method joins the texts."""


def find_wrong_text(reader_text: str, value: Column) -> Column | None:
    """Whether a value of a reader's type holds a text that is no UTF-8; never null. None where it can hold no text."""
    reader = parse_avro(reader_text)
    return _test_texts(reader.root, reader.names, value)


def find_wrong_text_apart(reader_text: str, value: Column) -> Column | None:
    """The same for a step of its own, which is left out of whole-stage code where it tests very many texts.

    Leaving costs more than a copy of the texts: Spark writes the record to a row before the step, and once more behind it.
    """
    reader = parse_avro(reader_text)
    texts = _TextCollector(reader.names)
    texts.add(reader.root, value)
    condition = texts.condition()
    if condition is None or len(texts.texts) + len(texts.lists) <= FEW:
        return condition
    if len(texts.texts) <= FEW_TOGETHER and not texts.lists and not texts.tests:
        return texts.condition(is_alone=True)
    # The test comes first: Spark takes the record out of its envelope once for all texts of what is computed in any case,
    # and for each anew in what may be left out. Where nothing was decoded, no text is wrong: no good row pays for leaving.
    return F.when(condition, F.lit(True)).when(value.isNull(), leave_whole_stage()).otherwise(F.lit(False))


def _test_texts(node: AvroType, names: Mapping[str, NamedType], value: Column) -> Column | None:
    texts = _TextCollector(names)
    texts.add(node, value)
    return texts.condition()


@dataclass(frozen=True, slots=True)
class _TextCollector:
    """Texts and lists of texts outside of other lists, and the tests of what lies in lists of something else."""

    names: Mapping[str, NamedType]
    texts: list[Column] = field(default_factory=list)
    lists: list[Column] = field(default_factory=list)
    tests: list[Column] = field(default_factory=list)

    def add(self, node: AvroType, value: Column) -> None:
        """Collect the texts of a value of this type."""
        match node:
            case AvroReference():
                named_type = self.names[node.full]
                if isinstance(named_type, AvroRecord):
                    self.add(named_type, value)
            case AvroRecord():
                for member in node.fields:
                    self.add(member.type, value[member.name])
            case AvroArray():
                self._add_items(node.items, value, has_null=False)
            case AvroMap():
                self.lists.append(F.map_keys(value))
                self._add_items(node.values, F.map_values(value), has_null=False)
            case AvroUnion():
                parts = [one for one in node.branches if not is_null(one)]
                named = members(node, self.names)
                if named is not None:
                    for part, name in zip(parts, named, strict=True):
                        self.add(part, value[name])
                elif parts:
                    self.add(parts[-1], value)
            case AvroPrimitive():
                if node.kind == "string":
                    self.texts.append(value)

    def _add_items(self, node: AvroType, items: Column, *, has_null: bool) -> None:
        """Collect the texts of a list, of which items may be null.

        The same field of all records in a list is one list to Spark, and lists of lists are one where none is null.
        What is left is tested by a function for each item, which Spark interprets: it would compile nothing of the step
        that holds it.
        """
        match node:
            case AvroReference():
                named_type = self.names[node.full]
                if isinstance(named_type, AvroRecord):
                    self._add_fields_of_items(named_type, items, has_null=has_null)
            case AvroRecord():
                self._add_fields_of_items(node, items, has_null=has_null)
            case AvroUnion():
                parts = [one for one in node.branches if not is_null(one)]
                named = members(node, self.names)
                if named is not None:
                    for part, name in zip(parts, named, strict=True):
                        self._add_items(part, items[name], has_null=True)
                elif parts:
                    self._add_items(parts[-1], items, has_null=True)
            case AvroPrimitive():
                if node.kind == "string":
                    self.lists.append(items)
            case AvroArray() if not has_null:
                self._add_items(node.items, F.flatten(items), has_null=False)
            case AvroArray() | AvroMap():
                self._add_test(node, items)

    def _add_fields_of_items(self, record: AvroRecord, items: Column, *, has_null: bool) -> None:
        for member in record.fields:
            self._add_items(member.type, items[member.name], has_null=has_null)

    def _add_test(self, node: AvroType, items: Column) -> None:
        """Collect a test of the items of a list, one by one."""
        item_tests: list[Column] = []

        def test(item: Column) -> Column:
            item_test = _test_texts(node, self.names, item)
            item_tests.extend([] if item_test is None else [item_test])
            return F.lit(False) if item_test is None else item_test

        is_wrong = F.coalesce(F.exists(items, test), F.lit(False))
        if item_tests:
            self.tests.append(is_wrong)

    def condition(self, *, is_alone: bool = False) -> Column | None:
        """Whether one of the texts is no UTF-8; None where there is none. With `is_alone` a method of its own joins them."""
        single = self.texts if len(self.texts) <= FEW else []
        joined = [*([] if single else self.texts), *self.lists]
        tests = [*map(_is_wrong, single), *self.tests]
        if joined:
            text = F.concat_ws(BETWEEN, *joined)
            # What is named twice is computed once, and Spark moves it out of the method of all steps.
            tests.append((F.octet_length(text) >= 0) & _is_wrong(text) if is_alone else _is_wrong(text))
        return join_conditions(tests, Column.__or__) if tests else None


def _is_wrong(text: Column) -> Column:
    """Whether a text is no UTF-8; never null. Where Spark interprets, `is_valid_utf8` would look its method up for each row."""
    return text.isNotNull() & F.try_validate_utf8(text).isNull()
