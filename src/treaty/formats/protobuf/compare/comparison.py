"""Can a reader's schema read what a writer's schema wrote: differences in the order of Confluent's checker."""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence

from treaty.core.finding import Finding
from treaty.core.limits import COMPARE_STEPS, FINDINGS
from treaty.formats.budget import StepsError, current_budget, limit_steps
from treaty.formats.protobuf.compare import extras
from treaty.formats.protobuf.compare.rules import established, harmless, treaty
from treaty.formats.protobuf.compare.side import GROUPS, FieldType, MessageBody, SchemaSide, has_option
from treaty.formats.protobuf.model import Field, Message, ProtoSchema
from treaty.formats.rule import CompatibilityRule

Task = Generator[tuple[MessageBody, MessageBody], bool, None]
"""Compares something: yields pairs of messages, is sent whether one of them does not fit."""


class _StopError(Exception):
    """The comparison ends here."""


def compare(reader: ProtoSchema, writer: ProtoSchema, policy: str = "STRICT") -> tuple[Finding, ...]:
    """What stops `reader` from reading data written with `writer`; nothing if it can. Policies make no difference.

    Fields are matched by number; names, defaults and the order of fields do not count. Raises `StepsError` where the
    budget of who asks is spent.
    """
    return _compare_schemas(reader, writer, with_harmless=False)


def find_differences(reader: ProtoSchema, writer: ProtoSchema) -> tuple[Finding, ...]:
    """All differences, also those that do no harm."""
    return _compare_schemas(reader, writer, with_harmless=True)


def _compare_schemas(reader: ProtoSchema, writer: ProtoSchema, *, with_harmless: bool) -> tuple[Finding, ...]:
    try:
        with limit_steps(COMPARE_STEPS, "COMPARE_STEPS"):
            return _Comparison(reader, writer, with_harmless=with_harmless).run()
    except StepsError as stop:
        if stop.limit != "COMPARE_STEPS":
            raise
        return (treaty.COMPARISON_TOO_LARGE.finding("#/", str(COMPARE_STEPS), writer="", reader=""),)


class _Comparison:
    """One comparison; `with_harmless` adds the harmless differences."""

    __slots__ = ("_budget", "_found", "_harm", "_memo", "_reader", "_with_harmless", "_writer")

    def __init__(self, reader: ProtoSchema, writer: ProtoSchema, *, with_harmless: bool) -> None:
        self._reader = SchemaSide(reader)
        self._writer = SchemaSide(writer)
        self._with_harmless = with_harmless
        self._found: list[Finding] = []
        self._harm = 0
        self._memo: dict[tuple[int, int], bool] = {}
        self._budget = current_budget()

    def run(self) -> tuple[Finding, ...]:
        """Compare the two files; messages of other files wait on a list and not on Python's stack."""
        waiting: list[Task] = [self._file()]
        pairs: list[tuple[tuple[int, int], int]] = []
        answer: bool | None = None
        try:
            while waiting:
                try:
                    reader, writer = waiting[-1].send(answer)  # type: ignore[arg-type]
                except StopIteration:
                    waiting.pop()
                    if pairs:
                        key, before = pairs.pop()
                        self._memo[key] = answer = self._harm > before
                    continue
                key = (id(reader.node), id(writer.node))
                answer = self._memo.get(key)
                if answer is None:
                    pairs.append((key, self._harm))
                    waiting.append(self._message(reader, writer, f"#/{reader.local.replace('.', '/')}"))
        except _StopError:
            pass
        return tuple(self._found[:FINDINGS])

    def _add(self, rule: CompatibilityRule, path: str, reader: str = "", writer: str = "", detail: str = "") -> None:
        if rule.harm == "none":
            if not self._with_harmless:
                return
        else:
            self._harm += 1
        self._budget.spend(4)
        self._found.append(rule.finding(path, detail, writer=writer, reader=reader))
        if len(self._found) >= FINDINGS:
            raise _StopError

    def _file(self) -> Task:
        reader, writer = self._reader.schema, self._writer.schema
        if reader.file.package != writer.file.package:
            sides = (one.file.package or "no package" for one in (reader, writer))
            self._add(established.PACKAGE_CHANGED, "#/", *sides)
        yield from self._messages(_wrap_file(reader), _wrap_file(writer), "#")
        if self._with_harmless:
            for rule, path in extras.compare_enums(reader.file.enums, writer.file.enums, "#"):
                self._add(rule, path)
        yield from self._extensions()

    def _messages(self, reader: MessageBody, writer: MessageBody, path: str) -> Task:
        """Messages inside two others, by their names."""
        reader_messages, writer_messages = _by_name(reader.node.messages), _by_name(writer.node.messages)
        for name, (at, node) in writer_messages.items():
            inner = f"{path}/{name}"
            nested = reader_messages.get(name)
            if nested is None:
                if not (has_option(node, "map_entry") or _has_group(reader.node, name)):
                    self._add(established.MESSAGE_REMOVED, inner, "no such message", f"message {name}")
                continue
            yield from self._message(_nest_body(reader, nested[1]), _nest_body(writer, node), inner)
            if nested[0] != at:
                self._add(harmless.MESSAGE_MOVED, inner, str(nested[0]), str(at))
        if self._with_harmless:
            for name, (_, node) in reader_messages.items():
                if name not in writer_messages and not (has_option(node, "map_entry") or _has_group(writer.node, name)):
                    self._add(harmless.MESSAGE_ADDED, f"{path}/{name}", f"message {name}", "no such message")

    def _message(self, reader: MessageBody, writer: MessageBody, path: str) -> Task:
        key = (id(reader.node), id(writer.node))
        if key in self._memo:
            return
        self._memo[key] = False
        before = self._harm
        new, old = reader.node, writer.node
        self._budget.spend(6 + len(new.fields) + len(old.fields) + len(new.messages) + len(old.messages))
        if new.options or old.options:
            sets = [has_option(one, "message_set_wire_format") for one in (new, old)]
            if sets[0] != sets[1]:
                self._add(treaty.MESSAGE_SET_CHANGED, path, *("a message set" if one else "a message" for one in sets))
        if new.oneofs or old.oneofs:
            yield from self._with_oneofs(reader, writer, path)
        else:
            yield from self._fields(reader, writer, _map_by_number(new.fields), _map_by_number(old.fields), path)
        if self._with_harmless:
            for rule, where in extras.compare_messages(new, old, path):
                self._add(rule, where)
        if new.messages or old.messages:
            yield from self._messages(reader, writer, path)
        self._memo[key] = self._harm > before

    def _fields(
        self,
        reader: MessageBody,
        writer: MessageBody,
        new_fields: Mapping[int, Field],
        old_fields: Mapping[int, Field],
        path: str,
    ) -> Task:
        """Fields outside of oneofs, by their numbers."""
        numbers = (
            new_fields.keys() | old_fields.keys()
            if len(new_fields) != len(old_fields) or new_fields.keys() != old_fields.keys()
            else new_fields
        )
        plain = not (reader.home.file.edition or writer.home.file.edition)
        for number in sorted(numbers):
            new, old = new_fields.get(number), old_fields.get(number)
            if new is None:
                assert old is not None
                required = self._writer.get_label(writer, old) == "required"
                rule = established.REQUIRED_FIELD_REMOVED if required else harmless.FIELD_REMOVED
                self._add(rule, f"{path}/{number}", "no such field", _describe_field(old))
            elif old is None:
                required = self._reader.get_label(reader, new) == "required"
                rule = established.REQUIRED_FIELD_ADDED if required else harmless.FIELD_ADDED
                self._add(rule, f"{path}/{number}", _describe_field(new), "no such field")
            elif plain and new.type == old.type and new.label == old.label and _is_simple(new, old):
                if new.name != old.name:
                    self._add(harmless.FIELD_NAME_CHANGED, f"{path}/{number}", new.name, old.name)
            else:
                yield from self._field(reader, new, writer, old, f"{path}/{number}")

    def _with_oneofs(self, reader: MessageBody, writer: MessageBody, path: str) -> Task:
        """Fields inside and outside of oneofs."""
        new_oneofs, old_oneofs = _oneofs(reader.node), _oneofs(writer.node)
        self._budget.spend(2 * (len(reader.node.all_fields) + len(writer.node.all_fields)))
        inside = {number: name for name, fields in new_oneofs.items() for number in fields}
        was_inside = {number: name for name, fields in old_oneofs.items() for number in fields}
        outside, was_outside = _map_by_number(reader.node.fields), _map_by_number(writer.node.fields)
        for name, fields in new_oneofs.items():
            self._exclusion(fields, was_outside, was_inside, f"{path}/{name}")
        everything = outside.keys() | inside.keys()
        for name in (*new_oneofs, *(name for name in old_oneofs if name not in new_oneofs)):
            if name not in old_oneofs or name not in new_oneofs:
                self._add(harmless.ONEOF_ADDED if name in new_oneofs else harmless.ONEOF_REMOVED, f"{path}/{name}")
                if name in old_oneofs and not everything.isdisjoint(old_oneofs[name]):
                    self._report_dropped(old_oneofs[name], everything, f"{path}/{name}")
                continue
            for number in sorted(new_oneofs[name].keys() | old_oneofs[name].keys()):
                where = f"{path}/{name}/{number}"
                new, old = new_oneofs[name].get(number), old_oneofs[name].get(number)
                if new is not None and old is not None:
                    yield from self._field(reader, new, writer, old, where)
                elif new is not None:
                    self._add(harmless.ONEOF_FIELD_ADDED, where, _describe_field(new), "no such field in the oneof")
            self._report_dropped(old_oneofs[name], everything, f"{path}/{name}")
        left = {number: one for number, one in outside.items() if number not in was_inside}
        yield from self._fields(
            reader, writer, left, {number: one for number, one in was_outside.items() if number not in inside}, path
        )
        before = {**was_outside, **{number: old_oneofs[name][number] for number, name in was_inside.items()}}
        now = {**outside, **{number: new_oneofs[name][number] for number, name in inside.items()}}
        for number in sorted(now.keys() & before.keys()):
            if inside.get(number) != was_inside.get(number):
                if number in outside:
                    self._add(harmless.ONEOF_FIELD_MOVED_TO_TOP_LEVEL, f"{path}/{number}")
                yield from self._field(reader, now[number], writer, before[number], f"{path}/{number}")

    def _report_dropped(self, members: Mapping[int, Field], everything: Collection[int], path: str) -> None:
        """Report which members of a oneof the reader lost: those that are nowhere in its message, whatever the name."""
        for number in sorted(members.keys() - everything):
            self._add(
                established.ONEOF_FIELD_REMOVED, f"{path}/{number}", "no such field", _describe_field(members[number])
            )

    def _exclusion(
        self, fields: Iterable[int], was_outside: Mapping[int, Field], was_inside: Mapping[int, str], path: str
    ) -> None:
        """Report fields of a reader's oneof that could be set together before: they come from several places."""
        alone = [was_outside[number].name for number in fields if number in was_outside]
        oneofs = sorted({was_inside[number] for number in fields if number in was_inside})
        if len(alone) + len(oneofs) > 1:
            rule = (
                established.MULTIPLE_FIELDS_MOVED_TO_ONEOF
                if len(alone) > 1
                else established.FIELD_MOVED_TO_EXISTING_ONEOF
            )
            before = [*(f"field {name}" for name in alone), *(f"oneof {name}" for name in oneofs)]
            self._add(rule, path, "one oneof", " and ".join(before[:10]))

    def _field(self, reader: MessageBody, new: Field, writer: MessageBody, old: Field, path: str) -> Task:
        """The same field on both sides."""
        self._budget.spend(8)
        if new.name != old.name:
            self._add(harmless.FIELD_NAME_CHANGED, path, new.name, old.name)
        new_type, old_type = self._reader.get_type(reader, new), self._writer.get_type(writer, old)
        if new_type.kind == old_type.kind == "MAP":
            assert new_type.parts is not None
            assert old_type.parts is not None
            for part, was in zip(new_type.parts, old_type.parts, strict=True):
                types = (self._reader.resolve_type(reader, part), self._writer.resolve_type(writer, was))
                yield from self._kinds(*types, path, (reader, new))
            return
        before = self._harm
        yield from self._kinds(new_type, old_type, path, (reader, new))
        if self._harm > before and new_type.kind != "MESSAGE":
            return
        label = self._reader.get_label(reader, new)
        self._labels(new_type, label, self._writer.get_label(writer, old), path)
        if label == "required" and new_type.symbol is not None:
            readable, written = self._reader.list_closed_numbers(new_type), self._writer.list_closed_numbers(old_type)
            if readable is not None and (written is None or not written <= readable):
                self._add(treaty.REQUIRED_ENUM_NARROWED, path, new_type.type_name, old_type.type_name)
        if new_type.kind == "MESSAGE" == old_type.kind:
            encodings = [self._reader.is_delimited(reader, new), self._writer.is_delimited(writer, old)]
            if encodings[0] != encodings[1]:
                words = ("between marks" if each else "with its length" for each in encodings)
                self._add(treaty.FIELD_ENCODING_CHANGED, path, *words)

    def _kinds(self, new: FieldType, old: FieldType, path: str, place: tuple[MessageBody, Field]) -> Task:
        """What a field, a key or a value is on both sides; `place` is the reader's field."""
        if new.kind != old.kind:
            self._add(established.FIELD_KIND_CHANGED, path, new.type_name, old.type_name)
        elif new.kind == "MESSAGE":
            yield from self._compare_named(new, old, path)
        elif new.scalar_group != old.scalar_group:
            self._add(established.FIELD_SCALAR_KIND_CHANGED, path, new.type_name, old.type_name)
        elif old.type_name == "bytes" and new.type_name == "string" and self._reader.is_utf8_checked(*place):
            self._add(treaty.FIELD_BYTES_READ_AS_TEXT, path, new.type_name, old.type_name)

    def _compare_named(self, new_type: FieldType, old_type: FieldType, path: str) -> Task:
        """Messages by their names without packages; those that the walk by names does not see, by their fields too."""
        new, old = _get_body(self._reader, new_type), _get_body(self._writer, old_type)
        names = (new.local if new else new_type.type_name, old.local if old else old_type.type_name)
        if names[0] != names[1]:
            self._add(established.FIELD_NAMED_TYPE_CHANGED, path, new_type.type_name, old_type.type_name)
            return
        if new is None or old is None or (new.node is old.node and new.home is old.home):
            return
        at_home = not (new.home.path or old.home.path)
        if at_home and self._reader.is_walked(new.node) and self._writer.is_walked(old.node):
            return
        self._budget.spend(4 + len(new.node.fields))
        is_harmed = yield new, old
        if is_harmed and not at_home:
            self._add(established.FIELD_NAMED_TYPE_CHANGED, path, new_type.type_name, old_type.type_name)

    def _labels(self, field_type: FieldType, new: str, old: str, path: str) -> None:
        if new == old:
            return
        numeric = field_type.kind == "SCALAR" and field_type.scalar_group != "text"
        words = (new or "no label", old or "no label")
        if field_type.kind == "SCALAR" and new and old:
            if numeric:
                self._add(established.FIELD_NUMERIC_LABEL_CHANGED, path, *words)
                return
            self._add(harmless.FIELD_STRING_OR_BYTES_LABEL_CHANGED, path, *words)
        if new == "required":
            self._add(treaty.FIELD_BECAME_REQUIRED, path, *words)
        elif numeric and old == "repeated":
            self._add(treaty.FIELD_LIST_READ_AS_ONE, path, *words)

    def _extensions(self) -> Task:
        """Fields that extend messages, by the message's name and their number; options of definitions are no data."""
        new_extensions, old_extensions = (extras.list_extensions(side.schema) for side in (self._reader, self._writer))
        names = {
            name for name, number in new_extensions.keys() ^ old_extensions.keys()
        }  # one side may have a field where the other has none
        fields = [
            {key: place for name in names for key, place in extras.list_members(side.schema, name).items()}
            for side in (self._reader, self._writer)
        ]
        for key in sorted(new_extensions.keys() | old_extensions.keys()):
            path = f"#/{key[0].replace('.', '/')}/[{key[1]}]"
            new = new_extensions.get(key) or fields[0].get(key)
            old = old_extensions.get(key) or fields[1].get(key)
            if new is not None and old is not None:
                yield from self._field(*new, *old, path)
            else:
                self._add(harmless.EXTENSION_ADDED if new is not None else harmless.EXTENSION_REMOVED, path)


def _wrap_file(schema: ProtoSchema) -> MessageBody:
    """A file as if it were a message that holds its messages."""
    return MessageBody(schema, schema.file.package, Message("", messages=schema.file.messages))


def _by_name(messages: Sequence[Message]) -> dict[str, tuple[int, Message]]:
    return {one.name: (at, one) for at, one in enumerate(messages)}


def _map_by_number(fields: Iterable[Field]) -> dict[int, Field]:
    return {one.number: one for one in fields}


def _oneofs(node: Message) -> dict[str, dict[int, Field]]:
    return {oneof.name: _map_by_number(oneof.fields) for oneof in node.oneofs}


def _nest_body(body: MessageBody, node: Message) -> MessageBody:
    return MessageBody(body.home, f"{body.full}.{node.name}" if body.full else node.name, node)


def _has_group(node: Message, name: str) -> bool:
    """Whether a message has a group of this name, which is a message too."""
    return any(one.group is not None and one.type == name for one in node.all_fields)


def _is_simple(new: Field, old: Field) -> bool:
    """Whether two fields of the same type need no look at what it means: scalars, and maps of them."""
    return new.type in GROUPS and new.key == old.key


def _describe_field(field: Field) -> str:
    kind = f"map<{field.key}, {field.type}>" if field.key else field.type
    return f"{f'{field.label} ' if field.label else ''}{kind} {field.name}"


def _get_body(side: SchemaSide, field_type: FieldType) -> MessageBody | None:
    """The message that a type means, where it is known."""
    symbol = field_type.symbol
    if symbol is None or not isinstance(symbol.node, Message):
        return None
    return MessageBody(side.home(symbol), symbol.full, symbol.node)
