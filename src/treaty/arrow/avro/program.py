"""A program that reads payloads of one writer as a reader's values, in the way of Avro's library for Java.

What it takes and what it refuses is what that library takes and refuses, damage included: negative indexes, numbers of
too many bytes, lengths that lead elsewhere. Values come as Arrow takes them. The program is written for the two schemas
once; its lines contain only numbers and names made here, everything else that a schema says comes in through constants.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from treaty.arrow.avro import primitives
from treaty.arrow.avro.leaves import MemberWriter, convert_default, write_conversion
from treaty.client.compiled.program import ProgramBuilder
from treaty.core.limits import ABSENT_CELLS, AVRO_ITEMS
from treaty.formats.avro.data.cells import CellCounts
from treaty.formats.avro.data.free_values import ALLOWED, FreeValues, weigh_missing
from treaty.formats.avro.model import (
    AbsentDefault,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
)
from treaty.formats.avro.resolution import AvroResolution, find_contested, find_named_reader, may_read, pair_fields
from treaty.plan.avro.columns import has_one_column

Read = Callable[[bytes], tuple[Any, int]]
"""From a frame to a value and where it ends. Raises some exception where the bytes are no value."""
LINES = 1_000_000
"""Lines of one program. Python takes some 10 us for each; a schema within its limits has fewer."""
CHAIN = 8
"""Branches that are tried one after the other."""
NUMBER = ("b = d[p]; p += 1", "if b > 127: b, p = @(d, p, b)")
WRONG = "raise wrong"
ALLOWANCE = f"left[2] += left[1] - left[0]; left[0] = left[1] = {ALLOWED}; left[3] = {ABSENT_CELLS}"
"""Counts what the payload before was charged with, and begins again."""
FEW_CELLS = 8
"""Cells of columns beside one value that are not counted."""


def compile_reader(
    writer: AvroSchema,
    reader: AvroSchema,
    left: list[int] | None = None,
    *,
    defers_errors: bool = False,
    is_raw: bool = False,
) -> Read:
    """The program for payloads of the writer's root as values of the reader's root.

    `left` holds how many free values the payload may still have, how many it might have at first, with how many those
    before it were charged, and how many cells of columns it may still lack.

    With `defers_errors` it continues after a leaf that is no value of its new type, and raises at the end, if that leaf is
    still there: a map keeps the last value of a key alone. What `is_raw` has leaves as bytes and numbers, whatever their types mean.
    """
    counts = [0, 0, 0, 0] if left is None else left
    return _ReaderCompiler(writer, reader, counts, defers_errors=defers_errors, is_raw=is_raw).program()


class _ReaderCompiler:
    """Writes the program: a function for each pair of records, for each array and each map, and for what is passed over."""

    def __init__(
        self, writer: AvroSchema, reader: AvroSchema, left: list[int], *, defers_errors: bool, is_raw: bool
    ) -> None:
        self.writer, self.reader, self.defers_errors, self.is_raw = writer, reader, defers_errors, is_raw
        self.free, self.cells = FreeValues(writer), CellCounts(reader)
        self.code = ProgramBuilder(LINES)
        self.functions: dict[tuple[str, str], str] = {}
        self.resolution = AvroResolution(writer, reader)
        self.members: dict[int, MemberWriter] = {}
        self.waiting: list[Callable[[], None]] = []
        names = primitives.DEFERRING_NAMES if defers_errors else primitives.RAW_NAMES if is_raw else primitives.NAMES
        self.code.constants.update(names, left=left)

    def program(self) -> Read:
        with self.code.block("def read(d):"):
            self.code.add("p, z = 0, len(d)", ALLOWANCE)
            self.value(self.writer.root, self.reader.root, "v")
            self.code.add(*([f"if holds_wrong(v): {WRONG}"] if self.defers_errors else []), "return v, p")
        while self.waiting:
            self.waiting.pop()()
        read: Read = self.code.compile_function("read")
        return read

    # ------------------------------------------------------------------------------------------------ values

    def value(self, writer: AvroType, reader: AvroType, to: str) -> None:
        """The lines that read a value into a variable."""
        old, new = self.writer.resolve(writer), self.reader.resolve(reader)
        if isinstance(new, AvroUnion):
            self.into_union(writer, new, to)
        elif isinstance(old, AvroUnion):
            self.choice(len(old.branches), lambda at: self.value(old.branches[at], reader, to))
        elif isinstance(old, AvroRecord) and isinstance(new, AvroRecord):
            self.code.add(f"{to}, p = {self.record(old, new)}(d, p, z)")
        elif isinstance(old, AvroArray) and isinstance(new, AvroArray):
            self.code.add(f"{to}, p = {self.array(old, new)}(d, p, z)")
        elif isinstance(old, AvroMap) and isinstance(new, AvroMap):
            self.code.add(f"{to}, p = {self.map(old, new)}(d, p, z)")
        elif isinstance(old, AvroEnum) and isinstance(new, AvroEnum) and find_named_reader(old, new) is not None:
            symbols_of_reader = frozenset(new.symbols)
            symbols = tuple(one if one in symbols_of_reader else new.default for one in old.symbols)
            self.number("index", to)
            self.code.add(
                f"{to} = {self.code.add_constant(symbols)}[{to}] if {to} >= 0 else None", f"if {to} is None: {WRONG}"
            )
        elif isinstance(old, AvroPrimitive | AvroFixed) and isinstance(new, AvroPrimitive | AvroFixed):
            self.leaf(old, new, to)
        else:
            self.code.add(WRONG)

    def into_union(self, writer: AvroType, new: AvroUnion, to: str) -> None:
        """The lines that read a value into a reader's union: from a writer's union, each of its branches."""
        old, places = self.writer.resolve(writer), self.resolution.find_places(writer, new)
        if isinstance(old, AvroUnion):
            self.choice(len(old.branches), lambda at: self.branch(old.branches[at], new, places[at], to))
        else:
            self.branch(writer, new, places[0], to)

    def branch(self, writer: AvroType, new: AvroUnion, place: int | None, to: str) -> None:
        """The lines that read a value into a branch of a reader's union; None is no branch."""
        if place is None:
            self.code.add(WRONG)
            return
        if id(new) not in self.members:
            self.members[id(new)] = MemberWriter(new, self.reader.names, self.code.add_constant)
        chosen = new.branches[place]
        if isinstance(chosen, AvroPrimitive) and has_one_column(new, self.reader.names):
            chosen = AvroPrimitive(chosen.kind)
        self.lack(self.cells.count(new) - self.cells.count(chosen))
        self.value(writer, chosen, to)
        if wrapped := self.members[id(new)].write(place, to):
            self.code.add(f"{to} = {wrapped}")

    def number(self, kind: str, to: str) -> None:
        """A whole number, of at most five bytes (int, index) or ten (long)."""
        more = "more_long" if kind == "long" else "more_int"
        self.code.add(*(line.replace("@", more) for line in NUMBER), f"{to} = (b >> 1) ^ -(b & 1)")

    def choice(self, count: int, part: Callable[[int], None]) -> None:
        """One of so many branches, by the index that stands before it."""
        place = self.code.fresh_name("u")
        self.number("index", place)
        self.search(place, range(count), part)

    def search(self, place: str, places: range, part: Callable[[int], None]) -> None:
        """The lines for one of these branches: a few one after the other, many by halves, as Python nests no 1,000
        `elif`.
        """
        if len(places) > CHAIN:
            half = len(places) // 2
            with self.code.block(f"if {place} < {places[half]}:"):
                self.search(place, places[:half], part)
            with self.code.block("else:"):
                self.search(place, places[half:], part)
            return
        for at in places:
            with self.code.block(f"{'if' if at == places.start else 'elif'} {place} == {at}:"):
                part(at)
        self.code.add(f"else: {WRONG}" if places else WRONG)

    def leaf(self, old: AvroPrimitive | AvroFixed, new: AvroPrimitive | AvroFixed, to: str) -> None:
        if not may_read(old, new):
            self.code.add(WRONG)
            return
        match old.kind:
            case "null":
                self.code.add(f"{to} = None")
            case "boolean":
                self.code.add(f"{to} = d[p] == 1; p += 1")
            case "int" | "long":
                self.number(old.kind, to)
            case "float" | "double":
                self.code.add(f"{to} = {old.kind}_(d, p)[0]; p += {4 if old.kind == 'float' else 8}")
            case "string" | "bytes":
                self.number("long", "n")
                self.code.add("q = p + n", f"if n < 0 or q > z: {WRONG}", f"{to} = d[p:q]; p = q")
            case "fixed":
                assert isinstance(old, AvroFixed)
                self.code.add(f"q = p + {old.size}", f"if q > z: {WRONG}", f"{to} = d[p:q]; p = q")
        for line in () if self.is_raw else write_conversion(old, new, self.code.add_constant):
            if self.defers_errors:
                with self.code.block("try:"):
                    self.code.add(line.replace("@", to))
                self.code.add(f"except ValueError: {to} = wrong")
            else:
                self.code.add(line.replace("@", to))

    # --------------------------------------------------------------------------------------------- functions

    def function(self, key: tuple[str, str], body: Callable[[], None]) -> str:
        """The name of a function, which is written later."""
        if key not in self.functions:
            name = self.functions[key] = self.code.fresh_name("f")

            def write() -> None:
                with self.code.block(f"def {name}(d, p, z):"):
                    body()

            self.waiting.append(write)
        return self.functions[key]

    def add_function(self, body: Callable[[], None]) -> str:
        """A function that nothing else calls."""
        return self.function((self.code.fresh_name("k"), ""), body)

    def record(self, old: AvroRecord, new: AvroRecord) -> str:
        def body() -> None:
            if find_contested(old, new) is not None:
                self.code.add(WRONG)
                return
            pairs = pair_fields(old, new)
            variables: dict[str, str] = {}
            filled = {one.name for one in pairs.values()}
            missing = [one for one in new.fields if one.name not in filled]
            self.lack(sum(self.cells.count(one.type) for one in missing))
            self.charge(self.free.charge_record(old, weigh_missing(missing)))
            for writer_field in old.fields:
                target = pairs.get(writer_field.name)
                if target is None:
                    self.skip(writer_field.type)
                else:
                    variables[target.name] = self.code.fresh_name("v")
                    self.value(writer_field.type, target.type, variables[target.name])
            parts = []
            for field in new.fields:
                if field.name in variables:
                    parts.append(f"{field.name!r}: {variables[field.name]}")
                elif isinstance(field.default, AbsentDefault):
                    self.code.add(WRONG)
                else:
                    parts.append(
                        f"{field.name!r}: {self.default(convert_default(field.type, field.default, self.reader))}"
                    )
            self.code.add(f"return {{{', '.join(parts)}}}, p")

        return self.function((old.full, new.full), body)

    def default(self, value: Any) -> str:
        """A constant; a mutable one is a new object for each record."""
        constant = self.code.add_constant(value)
        return f"copied({constant})" if isinstance(value, list | dict) else constant

    def array(self, old: AvroArray, new: AvroArray) -> str:
        def body() -> None:
            item = self.code.fresh_name("i")
            self.code.add("found = []", "add = found.append")
            with self.blocks("found", charge=self.free.charge_item(old.items)):
                self.value(old.items, new.items, item)
                self.code.add(f"add({item})")

        return self.add_function(body)

    def map(self, old: AvroMap, new: AvroMap) -> str:
        def body() -> None:
            key, item = self.code.fresh_name("k"), self.code.fresh_name("i")
            self.code.add("found = {}")
            with self.blocks("entries(found)"):
                self.number("long", "n")
                self.code.add("q = p + n", f"if n < 0 or q > z: {WRONG}", f"{key} = d[p:q]; p = q")
                self.value(old.values, new.values, item)
                self.code.add(f"found[{key}] = {item}")

        return self.add_function(body)

    @contextmanager
    def blocks(self, result: str, charge: int = 0) -> Iterator[None]:
        """The lines around the items of an array or map: blocks of so many items, up to an empty one."""
        code, count = self.code, self.code.fresh_name("m")
        code.add("done = 0")
        with code.block("while True:"):
            self.number("long", count)
            with code.block(f"if {count} <= 0:"):
                code.add(f"if not {count}: return {result}, p")
                self.number("long", "n")  # the bytes of the block, which nobody looks at
                code.add(f"{count} = -{count}")
                # Java has no such number: cut to 32 bits it is 0, and the first block so the end.
                code.add(f"if {count} == {2**63} and not done: return {result}, p")
            code.add(f"done += {count}", f"if done > {AVRO_ITEMS}: {WRONG}")
            if charge:
                self.charge(count)
            with code.block(f"for _ in range({count}):"):
                yield

    def charge(self, free: int | str) -> None:
        """The lines that count free values; none where there are none."""
        if free:
            self.code.add(f"left[0] -= {free}", f"if left[0] < 0: {WRONG}")

    def lack(self, cells: int) -> None:
        """The lines that count cells of columns that a value leaves empty; none where there are few."""
        if cells > FEW_CELLS:
            self.code.add(f"left[3] -= {cells}", f"if left[3] < 0: {WRONG}")

    # ----------------------------------------------------------------------------------------- passing over

    def skip(self, writer: AvroType) -> None:
        """The lines that pass over a value, as Java's library does it: it looks at less than where it reads."""
        old = self.writer.resolve(writer)
        match old:
            case AvroUnion():
                self.choice(len(old.branches), lambda at: self.skip(old.branches[at]))
            case AvroRecord():
                self.code.add(f"p = {self.function((old.full, ''), lambda: self.skip_fields(old))}(d, p, z)")
            case AvroArray():
                self.code.add(f"p = {self.add_function(lambda: self.skip_items(old.items, keys=False))}(d, p, z)")
            case AvroMap():
                self.code.add(f"p = {self.add_function(lambda: self.skip_items(old.values, keys=True))}(d, p, z)")
            case AvroFixed():
                self.code.add(f"p += {old.size}", f"if p > z: {WRONG}")
            case AvroEnum():
                self.number("index", "n")
            case AvroPrimitive():
                self.skip_leaf(old.kind)

    def skip_leaf(self, kind: str) -> None:
        if kind in {"int", "long"}:
            self.number(kind, "n")
        elif kind in {"string", "bytes"}:
            self.number("long", "n")
            self.code.add("if n > 0: p += n", f"if p > z: {WRONG}")
        else:
            size = {"float": 4, "double": 8, "boolean": 1}.get(kind, 0)
            self.code.add(f"p += {size}", f"if p > z: {WRONG}")

    def skip_fields(self, old: AvroRecord) -> None:
        self.charge(self.free.charge_record(old))
        for field in old.fields:
            self.skip(field.type)
        self.code.add("return p")

    def skip_items(self, items: AvroType, *, keys: bool) -> None:
        count, free = self.code.fresh_name("m"), not keys and self.free.is_free(items)
        with self.code.block("while True:"):
            self.number("long", count)
            with self.code.block(f"while {count} < 0:"):  # a block that says its bytes is passed over as a whole
                self.number("long", "n")
                self.code.add("if n > 0: p += n", f"if p > z: {WRONG}")
                self.number("long", count)
            self.code.add(f"if not {count}: return p")
            if free:
                self.charge(count)
                return
            with self.code.block(f"for _ in range({count}):"):
                if keys:
                    self.skip_leaf("string")
                self.skip(items)
