"""Can a reader's schema read what a writer's schema wrote: differences in the order of Confluent's checker."""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence

from treaty.core.finding import Finding
from treaty.core.limits import COMPARE_STEPS, FINDINGS
from treaty.formats.budget import StepsError, current_budget, limit_steps
from treaty.formats.protobuf.compare import extras
from treaty.formats.protobuf.compare.rules import established, harmless, treaty
from treaty.formats.protobuf.compare.side import GROUPS, FieldKind, MessageBody, SchemaSide, has_option
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
        mine, theirs = _by_name(reader.node.messages), _by_name(writer.node.messages)
        for name, (at, node) in theirs.items():
            inner = f"{path}/{name}"
            found = mine.get(name)
            if found is None:
                if not (has_option(node, "map_entry") or _has_group(reader.node, name)):
                    self._add(established.MESSAGE_REMOVED, inner, "no such message", f"message {name}")
                continue
            yield from self._message(_nest_body(reader, found[1]), _nest_body(writer, node), inner)
            if found[0] != at:
                self._add(harmless.MESSAGE_MOVED, inner, str(found[0]), str(at))
        if self._with_harmless:
            for name, (_, node) in mine.items():
                if name not in theirs and not (has_option(node, "map_entry") or _has_group(writer.node, name)):
                    self._add(harmless.MESSAGE_ADDED, f"{path}/{name}", f"message {name}", "no such message")

    def _message(self, reader: MessageBody, writer: MessageBody, path: str) -> Task:
        key = (id(reader.node), id(writer.node))
        if key in self._memo:
            return
        self._memo[key] = False
        before = self._harm
        mine, theirs = reader.node, writer.node
        self._budget.spend(6 + len(mine.fields) + len(theirs.fields) + len(mine.messages) + len(theirs.messages))
        if mine.options or theirs.options:
            sets = [has_option(one, "message_set_wire_format") for one in (mine, theirs)]
            if sets[0] != sets[1]:
                self._add(treaty.MESSAGE_SET_CHANGED, path, *("a message set" if one else "a message" for one in sets))
        if mine.oneofs or theirs.oneofs:
            yield from self._with_oneofs(reader, writer, path)
        else:
            yield from self._fields(reader, writer, _map_by_number(mine.fields), _map_by_number(theirs.fields), path)
        if self._with_harmless:
            for rule, where in extras.compare_messages(mine, theirs, path):
                self._add(rule, where)
        if mine.messages or theirs.messages:
            yield from self._messages(reader, writer, path)
        self._memo[key] = self._harm > before

    def _fields(
        self,
        reader: MessageBody,
        writer: MessageBody,
        mine: Mapping[int, Field],
        theirs: Mapping[int, Field],
        path: str,
    ) -> Task:
        """Fields outside of oneofs, by their numbers."""
        numbers = mine.keys() | theirs.keys() if len(mine) != len(theirs) or mine.keys() != theirs.keys() else mine
        plain = not (reader.home.file.edition or writer.home.file.edition)
        for number in sorted(numbers):
            one, other = mine.get(number), theirs.get(number)
            if one is None:
                assert other is not None
                required = self._writer.get_label(writer, other) == "required"
                rule = established.REQUIRED_FIELD_REMOVED if required else harmless.FIELD_REMOVED
                self._add(rule, f"{path}/{number}", "no such field", _describe_field(other))
            elif other is None:
                required = self._reader.get_label(reader, one) == "required"
                rule = established.REQUIRED_FIELD_ADDED if required else harmless.FIELD_ADDED
                self._add(rule, f"{path}/{number}", _describe_field(one), "no such field")
            elif plain and one.type == other.type and one.label == other.label and _simple(one, other):
                if one.name != other.name:
                    self._add(harmless.FIELD_NAME_CHANGED, f"{path}/{number}", one.name, other.name)
            else:
                yield from self._field(reader, one, writer, other, f"{path}/{number}")

    def _with_oneofs(self, reader: MessageBody, writer: MessageBody, path: str) -> Task:
        """Fields inside and outside of oneofs."""
        mine, theirs = _oneofs(reader.node), _oneofs(writer.node)
        self._budget.spend(2 * (len(reader.node.all_fields) + len(writer.node.all_fields)))
        inside = {number: name for name, fields in mine.items() for number in fields}
        was_inside = {number: name for name, fields in theirs.items() for number in fields}
        outside, was_outside = _map_by_number(reader.node.fields), _map_by_number(writer.node.fields)
        for name, fields in mine.items():
            self._exclusion(fields, was_outside, was_inside, f"{path}/{name}")
        everything = outside.keys() | inside.keys()
        for name in (*mine, *(name for name in theirs if name not in mine)):
            if name not in theirs or name not in mine:
                self._add(harmless.ONEOF_ADDED if name in mine else harmless.ONEOF_REMOVED, f"{path}/{name}")
                if name in theirs and not everything.isdisjoint(theirs[name]):
                    self._report_dropped(theirs[name], everything, f"{path}/{name}")
                continue
            for number in sorted(mine[name].keys() | theirs[name].keys()):
                where = f"{path}/{name}/{number}"
                one, other = mine[name].get(number), theirs[name].get(number)
                if one is not None and other is not None:
                    yield from self._field(reader, one, writer, other, where)
                elif one is not None:
                    self._add(harmless.ONEOF_FIELD_ADDED, where, _describe_field(one), "no such field in the oneof")
            self._report_dropped(theirs[name], everything, f"{path}/{name}")
        left = {number: one for number, one in outside.items() if number not in was_inside}
        yield from self._fields(
            reader, writer, left, {number: one for number, one in was_outside.items() if number not in inside}, path
        )
        before = {**was_outside, **{number: theirs[name][number] for number, name in was_inside.items()}}
        now = {**outside, **{number: mine[name][number] for number, name in inside.items()}}
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
        """Return whether the fields of a reader's oneof could be set together: how many places they come from."""
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

    def _field(self, reader: MessageBody, one: Field, writer: MessageBody, other: Field, path: str) -> Task:
        """The same field on both sides."""
        self._budget.spend(8)
        if one.name != other.name:
            self._add(harmless.FIELD_NAME_CHANGED, path, one.name, other.name)
        mine, theirs = self._reader.get_kind(reader, one), self._writer.get_kind(writer, other)
        if mine.name == theirs.name == "MAP":
            assert mine.parts is not None
            assert theirs.parts is not None
            for part, was in zip(mine.parts, theirs.parts, strict=True):
                kinds = (self._reader.resolve_kind(reader, part), self._writer.resolve_kind(writer, was))
                yield from self._kinds(*kinds, path, (reader, one))
            return
        before = self._harm
        yield from self._kinds(mine, theirs, path, (reader, one))
        if self._harm > before and mine.name != "MESSAGE":
            return
        label = self._reader.get_label(reader, one)
        self._labels(mine, label, self._writer.get_label(writer, other), path)
        if label == "required" and mine.symbol is not None:
            known, written = self._reader.list_closed_numbers(mine), self._writer.list_closed_numbers(theirs)
            if known is not None and (written is None or not written <= known):
                self._add(treaty.REQUIRED_ENUM_NARROWED, path, mine.word, theirs.word)
        if mine.name == "MESSAGE" == theirs.name:
            encodings = [self._reader.is_delimited(reader, one), self._writer.is_delimited(writer, other)]
            if encodings[0] != encodings[1]:
                words = ("between marks" if each else "with its length" for each in encodings)
                self._add(treaty.FIELD_ENCODING_CHANGED, path, *words)

    def _kinds(self, mine: FieldKind, theirs: FieldKind, path: str, place: tuple[MessageBody, Field]) -> Task:
        """What a field, a key or a value is on both sides; `place` is the reader's field."""
        if mine.name != theirs.name:
            self._add(established.FIELD_KIND_CHANGED, path, mine.word, theirs.word)
        elif mine.name == "MESSAGE":
            yield from self._named(mine, theirs, path)
        elif mine.group != theirs.group:
            self._add(established.FIELD_SCALAR_KIND_CHANGED, path, mine.word, theirs.word)
        elif theirs.word == "bytes" and mine.word == "string" and self._reader.is_utf8_checked(*place):
            self._add(treaty.FIELD_BYTES_READ_AS_TEXT, path, mine.word, theirs.word)

    def _named(self, mine: FieldKind, theirs: FieldKind, path: str) -> Task:
        """Messages by their names without packages; those that the walk by names does not see, by their fields too."""
        one, other = _get_body(self._reader, mine), _get_body(self._writer, theirs)
        names = (one.local if one else mine.word, other.local if other else theirs.word)
        if names[0] != names[1]:
            self._add(established.FIELD_NAMED_TYPE_CHANGED, path, mine.word, theirs.word)
            return
        if one is None or other is None or (one.node is other.node and one.home is other.home):
            return
        at_home = not (one.home.path or other.home.path)
        if at_home and self._reader.is_walked(one.node) and self._writer.is_walked(other.node):
            return
        self._budget.spend(4 + len(one.node.fields))
        wrong = yield one, other
        if wrong and not at_home:
            self._add(established.FIELD_NAMED_TYPE_CHANGED, path, mine.word, theirs.word)

    def _labels(self, kind: FieldKind, mine: str, theirs: str, path: str) -> None:
        if mine == theirs:
            return
        numeric = kind.name == "SCALAR" and kind.group != "text"
        words = (mine or "no label", theirs or "no label")
        if kind.name == "SCALAR" and mine and theirs:
            if numeric:
                self._add(established.FIELD_NUMERIC_LABEL_CHANGED, path, *words)
                return
            self._add(harmless.FIELD_STRING_OR_BYTES_LABEL_CHANGED, path, *words)
        if mine == "required":
            self._add(treaty.FIELD_BECAME_REQUIRED, path, *words)
        elif numeric and theirs == "repeated":
            self._add(treaty.FIELD_LIST_READ_AS_ONE, path, *words)

    def _extensions(self) -> Task:
        """Fields that extend messages, by the message's name and their number; options of definitions are no data."""
        mine, theirs = (extras.list_extensions(side.schema) for side in (self._reader, self._writer))
        names = {
            name for name, number in mine.keys() ^ theirs.keys()
        }  # one side may have a field where the other has none
        fields = [
            {key: place for name in names for key, place in extras.list_members(side.schema, name).items()}
            for side in (self._reader, self._writer)
        ]
        for key in sorted(mine.keys() | theirs.keys()):
            path = f"#/{key[0].replace('.', '/')}/[{key[1]}]"
            one = mine.get(key) or fields[0].get(key)
            other = theirs.get(key) or fields[1].get(key)
            if one is not None and other is not None:
                yield from self._field(*one, *other, path)
            else:
                self._add(harmless.EXTENSION_ADDED if one is not None else harmless.EXTENSION_REMOVED, path)


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


def _simple(one: Field, other: Field) -> bool:
    """Whether two fields of the same type need no look at what it means: scalars, and maps of them."""
    return one.type in GROUPS and one.key == other.key


def _describe_field(field: Field) -> str:
    kind = f"map<{field.key}, {field.type}>" if field.key else field.type
    return f"{f'{field.label} ' if field.label else ''}{kind} {field.name}"


def _get_body(side: SchemaSide, kind: FieldKind) -> MessageBody | None:
    """The message that a type means, where it is known."""
    symbol = kind.symbol
    if symbol is None or not isinstance(symbol.node, Message):
        return None
    return MessageBody(side.home(symbol), symbol.full, symbol.node)
