"""Comparison of two schemas: what a reader can't read of what a writer writes, and what else differs."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from treaty.core.finding import Finding
from treaty.core.limits import FINDINGS
from treaty.formats.budget import spend
from treaty.formats.rule import CompatibilityRule
from treaty_thrift import rules
from treaty_thrift.model import Container, Enum, Field, Primitive, Record, Resolved, ThriftSchema, Type, resolve_type
from treaty_thrift.printer import print_type

FIELD_STEPS = 10
"""Steps for comparing one field."""


def compare(reader: ThriftSchema, writer: ThriftSchema, policy: str) -> tuple[Finding, ...]:
    """Findings, empty where the reader reads all that the writer writes; all policies are alike."""
    findings = (finding for finding in _Comparison(reader, writer).run() if rules.RULES[finding.rule].harm != "none")
    return tuple(finding for _, finding in zip(range(FINDINGS), findings, strict=False))


def find_differences(reader: ThriftSchema, writer: ThriftSchema) -> tuple[Finding, ...]:
    """Everything that differs."""
    return tuple(finding for _, finding in zip(range(FINDINGS), _Comparison(reader, writer).run(), strict=False))


@dataclass(slots=True)
class _Comparison:
    """Records of one name are compared, the roots, and what these lead to; each pair once."""

    reader: ThriftSchema
    writer: ThriftSchema
    seen: set[tuple[bytes, str, bytes, str]] = field(default_factory=set)
    left: deque[tuple[ThriftSchema, Record | Enum, ThriftSchema, Record | Enum]] = field(default_factory=deque)
    alike: dict[tuple[bytes, Type, bytes, Type], bool] = field(default_factory=dict)
    """Whether containers are readable, by those that were compared: typedefs may name one of them many times."""

    def run(self) -> Iterator[Finding]:
        new, old = self.reader.root, self.writer.root
        if new and old:
            if new.name != old.name and any(record.name == old.name for record in self.reader.records()):
                yield rules.ROOT_CHANGED.finding(f"/{new.name}", old.name, writer=old.name, reader=new.name)
            else:
                self._add(self.reader, new, self.writer, old)
        elif old:
            yield rules.ROOT_CHANGED.finding("", old.name, writer=old.name, reader="")
        for name, definition in self.writer.definitions.items():
            other = self.reader.definitions.get(name)
            if isinstance(definition, Record | Enum) and isinstance(other, Record | Enum):
                self._add(self.reader, other, self.writer, definition)
        while self.left:
            outer, new_type, home, old_type = self.left.popleft()
            if isinstance(new_type, Enum) and isinstance(old_type, Enum):
                yield from _compare_enums(new_type, old_type)
            elif isinstance(new_type, Record) and isinstance(old_type, Record):
                yield from self._compare_records(outer, new_type, home, old_type)

    def _add(self, outer: ThriftSchema, new: Record | Enum, home: ThriftSchema, old: Record | Enum) -> None:
        key = (outer.digest, new.name, home.digest, old.name)
        if key not in self.seen:
            self.seen.add(key)
            self.left.append((outer, new, home, old))

    def _compare_records(self, outer: ThriftSchema, new: Record, home: ThriftSchema, old: Record) -> Iterator[Finding]:
        path = f"/{new.name}"
        if (new.kind == "union") != (old.kind == "union"):
            yield rules.KIND_CHANGED.finding(path, old.kind, writer=old.kind, reader=new.kind)
            return
        spend(len(new.fields))
        mine, theirs = ({field.id: field for field in record.fields} for record in (new, old))
        names = {field.name: field for field in new.fields}
        for id_, before in theirs.items():
            spend(FIELD_STEPS)
            after = mine.get(id_)
            if after is not None:
                yield from self._compare_fields(outer, after, home, before, f"{path}/{id_}")
                continue
            moved = names.get(before.name)
            if moved is not None:
                yield rules.FIELD_ID_CHANGED.finding(
                    f"{path}/{moved.id}", before.name, writer=str(id_), reader=str(moved.id)
                )
            rule = rules.UNION_FIELD_GONE if new.kind == "union" else rules.FIELD_REMOVED
            yield rule.finding(path, before.name, writer=_say(before), reader="")
        for id_, after in mine.items():
            if id_ not in theirs:
                required = after.requiredness == "required"
                rule = rules.FIELD_REQUIRED_MISSING if required else rules.FIELD_ADDED
                yield rule.finding(f"{path}/{id_}", after.name, writer="", reader=_say(after))

    def _compare_fields(
        self, outer: ThriftSchema, new: Field, home: ThriftSchema, old: Field, path: str
    ) -> Iterator[Finding]:
        def finding(rule: CompatibilityRule, detail: str) -> Finding:
            return rule.finding(path, detail, writer=_say(old), reader=_say(new))

        if not self._is_readable(resolve_type(outer, new.type), resolve_type(home, old.type)):
            yield finding(rules.FIELD_TYPE_CHANGED, f"{print_type(old.type)} became {print_type(new.type)}")
        if new.requiredness == "required" != old.requiredness:
            yield finding(rules.FIELD_REQUIRED_UNSURE, new.name)
        elif new.requiredness != old.requiredness:
            yield finding(rules.REQUIREDNESS_CHANGED, new.name)
        if new.name != old.name:
            yield finding(rules.FIELD_RENAMED, f"{old.name} became {new.name}")
        if new.default != old.default:
            yield finding(rules.DEFAULT_CHANGED, new.name)

    def _is_readable(self, new: Resolved, old: Resolved) -> bool:
        """Whether bytes of the old type are read as the new one; records and enums are compared on their own."""
        match new.type, old.type:
            case Primitive(name), Primitive(other):
                return name == other or (name, other) == ("binary", "string")
            case Primitive(name="i32"), Enum():
                return True
            case Container(), Container():
                spend(FIELD_STEPS)
                key = (new.schema.digest, new.type, old.schema.digest, old.type)
                if key not in self.alike:
                    self.alike[key] = new.type.kind == old.type.kind and all(
                        self._is_readable(resolve_type(new.schema, new_part), resolve_type(old.schema, old_part))
                        for new_part, old_part in zip(new.type.parts, old.type.parts, strict=True)
                    )
                return self.alike[key]
            case (Record(), Record()) | (Enum(), Enum()):
                assert isinstance(new.type, Record | Enum)
                assert isinstance(old.type, Record | Enum)
                self._add(new.schema, new.type, old.schema, old.type)
                return True
        return False


def _compare_enums(new: Enum, old: Enum) -> Iterator[Finding]:
    path = f"/{new.name}"
    spend(len(new.symbols) + len(old.symbols))
    mine, theirs = ({symbol.number: symbol.name for symbol in enum.symbols} for enum in (new, old))
    for number, name in theirs.items():
        other = mine.get(number)
        if other is None:
            yield rules.ENUM_SYMBOL_GONE.finding(path, f"{name} ({number})", writer=f"{name} = {number}", reader="")
        elif other != name:
            detail = f"{name} became {other}"
            yield rules.SYMBOL_RENAMED.finding(f"{path}/{other}", detail, writer=name, reader=other)
    for number, name in mine.items():
        if number not in theirs:
            yield rules.SYMBOL_ADDED.finding(f"{path}/{name}", name, writer="", reader=f"{name} = {number}")


def _say(field: Field) -> str:
    needed = f"{field.requiredness} " if field.requiredness else ""
    return f"{field.id}: {needed}{print_type(field.type)} {field.name}"
