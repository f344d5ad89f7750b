"""Descriptors that no compiler wrote: generated ones with some facts changed, and what protoc says of them.

`python -m tests.oracle.protobuf_descriptors` asks anew and keeps the first answers as data.
"""

import base64
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from tests.oracle.protobuf_files import DIALECTS, made
from tests.oracle.protobuf_treaty import judged, lacks_options
from tests.oracle.protoc import Protoc, Verdict, plain
from treaty.core.finding import Diagnostic
from treaty.formats.protobuf.descriptors.classes import get_file_class, get_set_class
from treaty.formats.protobuf.encoding.files import build_descriptor, build_descriptor_set
from treaty.formats.protobuf.model import ProtoSchema

FOLDER = Path(__file__).parents[1] / "conformance" / "data"
FILE = FOLDER / "protobuf-descriptor-answers.json.xz"
CASES = Path(__file__).parents[1] / "cases" / "protobuf" / "descriptors.json"
NAME = "schema.proto"
KEPT, WHOLE = 700, 20_000
NO_TEXT = ("DESCRIPTOR_INVALID", "MAP_BY_HAND", "OPTION_VALUE")
"""Rules of what protoc takes and no text can say: names that begin with a digit, an entry without its map, an option with a number that its enum lacks."""


@dataclass(frozen=True)
class Answer:
    """A descriptor set, and what protoc said of its file `NAME`."""

    files: bytes
    said: Verdict


def hand_made() -> list[tuple[str, bytes]]:
    """The cases in protobuf's text format, as descriptor sets."""
    found = []
    for row in json.loads(CASES.read_text("utf-8")):
        made_by_hand = get_set_class()()
        made_by_hand.file.append(text_format.Parse(f'name: "{NAME}" {row["file"]}', get_file_class()()))
        found.append((row["case"], made_by_hand.SerializeToString()))
    return found


def mutants(seeds: Sequence[int]) -> Iterator[bytes]:
    """Descriptor sets of generated files, of each file some facts are changed."""
    for seed in seeds:
        schema = judged(made(seed, DIALECTS[seed % len(DIALECTS)]))
        if isinstance(schema, ProtoSchema):
            whole = build_descriptor_set(schema)
            chance = random.Random(seed)
            whole.file[-1].name = NAME
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                chance.choice(_CHANGES)(whole.file[-1], chance)
            yield whole.SerializeToString()


def _messages(proto: FileDescriptorProto) -> list[DescriptorProto]:
    found = list(proto.message_type)
    for one in found:
        found.extend(one.nested_type)
    return found


def _fields(proto: FileDescriptorProto) -> list[FieldDescriptorProto]:
    inner = [field for one in _messages(proto) for field in (*one.field, *one.extension)]
    return [*inner, *proto.extension]


def _names(proto: FileDescriptorProto) -> list[str]:
    inner = [one.name for one in _messages(proto)] + [one.name for one in proto.enum_type]
    full = [one.type_name for one in _fields(proto) if one.type_name]
    return [*inner, *full, *(f".{one}" for one in inner), ".missing", "missing"]


def _type(proto: FileDescriptorProto, chance: random.Random) -> None:
    if fields := _fields(proto):
        one = chance.choice(fields)
        what = chance.randrange(5)
        if what == 0:
            one.ClearField("type")
        elif what == 1:
            one.type = chance.randrange(1, 19)  # type: ignore[assignment]
        elif what == 2:
            one.type_name = chance.choice(_names(proto))
        elif what == 3:
            one.ClearField("type_name")
        else:
            one.type_name = chance.choice(_names(proto))
            one.ClearField("type")


def _label(proto: FileDescriptorProto, chance: random.Random) -> None:
    if fields := _fields(proto):
        one = chance.choice(fields)
        if chance.randrange(4):
            one.label = chance.choice((1, 2, 3))  # type: ignore[assignment]
        else:
            one.ClearField("label")


def _oneof(proto: FileDescriptorProto, chance: random.Random) -> None:
    if messages := [one for one in _messages(proto) if one.field]:
        one = chance.choice(messages)
        field = chance.choice(one.field)
        what = chance.randrange(7)
        if what == 0:
            field.oneof_index = chance.choice((-1, 0, 1, 2, 3, 100))
        elif what == 1:
            field.ClearField("oneof_index")
        elif what == 2:
            one.oneof_decl.add(name="added")
        elif what == 3:
            field.proto3_optional = not field.proto3_optional
        elif what == 4 and one.oneof_decl:
            del one.oneof_decl[chance.randrange(len(one.oneof_decl))]
        elif what == 5:
            one.oneof_decl.insert(0, one.oneof_decl.add(name="first"))
        else:
            moved = [FieldDescriptorProto.FromString(each.SerializeToString()) for each in one.field]
            chance.shuffle(moved)
            del one.field[:]
            for each in moved:
                one.field.add().MergeFromString(each.SerializeToString())


def _number(proto: FileDescriptorProto, chance: random.Random) -> None:
    if fields := _fields(proto):
        one = chance.choice(fields)
        if chance.randrange(5):
            one.number = chance.choice((0, -1, 1, 2, 3, 100, 1000, 19000, 2**29 - 1, 2**29, 2**31 - 1))
        else:
            one.ClearField("number")


def _word(proto: FileDescriptorProto, chance: random.Random) -> None:
    found: list[Any] = [*_messages(proto), *_fields(proto), *proto.enum_type, *proto.service]
    if found:
        one = chance.choice(found)
        one.name = chance.choice((*(each.name for each in found), "1a", "", "_", "X", "_x"))


def _default(proto: FileDescriptorProto, chance: random.Random) -> None:
    if fields := _fields(proto):
        one = chance.choice(fields)
        texts = (
            "",
            "0",
            "-0",
            "1",
            "-1",
            "007",
            "0x1f",
            "1e3",
            "1_0",
            "1.5",
            "inf",
            "-inf",
            "nan",
            "true",
            "A",
            " 5",
            "\\x41",
            "\\",
        )
        what = chance.randrange(4)
        if what < 2:
            one.default_value = chance.choice(texts)
        elif what == 2:
            one.json_name = chance.choice(("", "a", "[a]", "x" * 5, one.name))
        else:
            one.ClearField("json_name")


def _map(proto: FileDescriptorProto, chance: random.Random) -> None:
    entries = [one for one in _messages(proto) if one.options.map_entry and len(one.field) == 2]
    if not entries or not chance.randrange(5):
        if messages := _messages(proto):
            chance.choice(messages).options.map_entry = chance.randrange(4) > 0
        return
    one = chance.choice(entries)
    what = chance.randrange(9)
    if what == 0:
        one.options.ClearField("map_entry")
    elif what == 1:
        one.name += "X"
    elif what == 2:
        one.field[chance.randrange(2)].number = chance.choice((1, 2, 3))
    elif what == 3:
        one.field[chance.randrange(2)].label = chance.choice((1, 2, 3))  # type: ignore[assignment]
    elif what == 4:
        one.field[1].type = FieldDescriptorProto.TYPE_MESSAGE
        one.field[1].type_name = chance.choice(_names(proto))
    elif what == 5:
        one.field[0].type = chance.choice((1, 2, 3, 8, 9, 12, 14))  # type: ignore[assignment]
    elif what == 6:
        one.field.add(
            name="more", number=3, label=FieldDescriptorProto.LABEL_OPTIONAL, type=FieldDescriptorProto.TYPE_INT32
        )
    elif what == 7:
        one.nested_type.add(name="Inner")
    else:
        one.field[chance.randrange(2)].name = chance.choice(("key", "value", "other"))


def _remove(proto: FileDescriptorProto, chance: random.Random) -> None:
    lists: list[Any] = [proto.message_type, proto.enum_type, proto.extension, proto.service, proto.dependency]
    for one in _messages(proto):
        lists += [one.field, one.nested_type, one.enum_type, one.extension, one.extension_range, one.reserved_range]
    lists = [one for one in lists if len(one)]
    if lists:
        one = chance.choice(lists)
        del one[chance.randrange(len(one))]


def _place(proto: FileDescriptorProto, chance: random.Random) -> None:
    what = chance.randrange(6)
    fields = _fields(proto)
    if what == 0 and fields:
        chance.choice(fields).extendee = chance.choice(_names(proto))
    elif what == 1 and fields:
        chance.choice(fields).ClearField("extendee")
    elif what == 2:
        proto.public_dependency.append(chance.choice((-1, 0, 1, 5)))
    elif what == 3:
        proto.syntax = chance.choice(("", "proto2", "proto3", "editions", "proto4"))
    elif what == 4:
        proto.edition = chance.choice((0, 900, 998, 999, 1000, 1001))  # type: ignore[assignment]
    elif messages := _messages(proto):
        one = chance.choice(messages)
        spans = chance.choice((one.reserved_range, one.extension_range))
        spans.add(start=chance.choice((-1, 0, 1, 5, 100)), end=chance.choice((0, 1, 6, 101, 2**29, 2**31 - 1)))


def _option(proto: FileDescriptorProto, chance: random.Random) -> None:
    found: list[Any] = [*_messages(proto), *_fields(proto), proto]
    one = chance.choice(found)
    made_up = one.options.uninterpreted_option.add()
    made_up.name.add(name_part=chance.choice(("deprecated", "java_package", "packed", "none")), is_extension=False)
    if chance.randrange(2):
        made_up.identifier_value = chance.choice(("true", "false", "X"))
    else:
        made_up.string_value = b"text"


_CHANGES = (_type, _type, _label, _oneof, _oneof, _number, _word, _default, _map, _map, _remove, _place, _option)


def ours(files: bytes) -> ProtoSchema | Diagnostic:
    """What Treaty says of the file `NAME` of a descriptor set."""
    return judged(base64.b64encode(files).decode())


def bare(proto: FileDescriptorProto) -> bytes:
    """A descriptor by which two are compared: no names of oneofs for labels, no empty options, entries of maps last, and
    which imports are public in their order.
    """
    copy = get_file_class().FromString(plain(proto))
    copy.public_dependency[:] = sorted(copy.public_dependency)
    waiting: list[Any] = [copy, *copy.message_type, *copy.enum_type, *copy.service, *copy.extension]
    while waiting:
        one = waiting.pop()
        if one.DESCRIPTOR.name == "DescriptorProto":
            _sort_oneofs(one)
            one.nested_type.sort(key=lambda inner: inner.name if inner.options.map_entry else "")
        if one.HasField("options") and not one.options.ByteSize():
            one.ClearField("options")
        for name in (
            "field",
            "extension",
            "nested_type",
            "enum_type",
            "value",
            "oneof_decl",
            "extension_range",
            "method",
        ):
            waiting += getattr(one, name, ())
    return copy.SerializeToString(deterministic=True)


def _sort_oneofs(message: Any) -> None:
    """Put the oneofs of a message into the order of their first fields, and number those that are there for a label."""
    inside = [field for field in message.field if field.HasField("oneof_index")]
    order = list(dict.fromkeys(field.oneof_index for field in inside))
    oneofs = [type(one).FromString(one.SerializeToString()) for one in map(message.oneof_decl.__getitem__, order)]
    for field in inside:
        field.oneof_index = order.index(field.oneof_index)
        if field.proto3_optional:
            oneofs[field.oneof_index].name = f"_{field.oneof_index}"
    del message.oneof_decl[:]
    message.oneof_decl.extend(oneofs)


def outcome(answer: Answer) -> str:
    """What is the matter with one descriptor: a word for what agrees, a sentence that begins with "!" for what does not."""
    mine = ours(answer.files)
    theirs = answer.said.descriptor
    if answer.said.crashed:
        return "protoc crashed"
    if isinstance(mine, Diagnostic):
        if theirs is None:
            return "refused"
        if mine.rule == "DEFAULT_INVALID" and untyped_defaults(answer.files):
            return "default without a type"
        return "no text" if mine.rule in NO_TEXT else f"! Treaty refuses: {mine}"
    if theirs is None:
        return "unknown option" if lacks_options(answer.said) else f"! protoc refuses: {answer.said.messages}"
    made_of_it = build_descriptor(mine, NAME)
    if bare(theirs) == bare(made_of_it):
        return "accepted"
    if bare(without_customs(theirs)) == bare(without_customs(made_of_it)):
        return "custom option left out"
    names = untyped_defaults(answer.files)
    same = bare(without_defaults(theirs, names)) == bare(without_defaults(made_of_it, names))
    return "default without a type" if same else "! the descriptors differ"


def untyped_defaults(files: bytes) -> set[tuple[str, int]]:
    """Names and numbers of fields that say a default and no type: a double, whose default protoc forgets and takes for 0."""
    sent = next(file for file in get_set_class().FromString(files).file if file.name == NAME)
    untyped = [one for one in _fields(sent) if not one.HasField("type") and not one.HasField("type_name")]
    return {(one.name, one.number) for one in untyped if one.HasField("default_value")}


def without_defaults(proto: FileDescriptorProto, names: set[tuple[str, int]]) -> FileDescriptorProto:
    """A descriptor without the defaults of these fields."""
    copy = get_file_class().FromString(proto.SerializeToString())
    for one in _fields(copy):
        if (one.name, one.number) in names:
            one.ClearField("default_value")
    return copy


def without_customs(proto: FileDescriptorProto) -> FileDescriptorProto:
    """A descriptor without custom options: those whose definition was changed are bytes that mean nothing."""
    copy = get_file_class().FromString(proto.SerializeToString())
    copy.DiscardUnknownFields()
    return copy


def asked(sets: Sequence[bytes]) -> Iterator[Answer]:
    """What protoc says now."""
    with Protoc() as protoc:
        for one in sets:
            yield Answer(one, protoc.ask_set(one, NAME))


def kept() -> list[Answer]:
    """What protoc said when it was asked."""
    found = []
    for row in json.loads(lzma.decompress(FILE.read_bytes())):
        said = None if row["descriptor"] is None else get_file_class().FromString(base64.b64decode(row["descriptor"]))
        found.append(Answer(base64.b64decode(row["files"]), Verdict(said, row["messages"], crashed=row["crashed"])))
    return found


def keep(answers: Sequence[Answer]) -> None:
    """Keep answers as data."""
    rows = [
        {
            "files": base64.b64encode(one.files).decode(),
            "descriptor": None
            if one.said.descriptor is None
            else base64.b64encode(one.said.descriptor.SerializeToString(deterministic=True)).decode(),
            "messages": one.said.messages if lacks_options(one.said) else "",
            "crashed": one.said.crashed,
        }
        for one in answers
    ]
    FILE.write_bytes(lzma.compress(json.dumps(rows, indent=0).encode(), preset=9))


def main() -> None:
    """Ask about all, print what differs, keep the share that every test run uses."""
    by_hand = [files for _, files in hand_made()]
    answers = list(asked([*by_hand, *mutants(range(KEPT))]))
    keep(answers)
    print(Counter(outcome(one) for one in answers))


if __name__ == "__main__":
    main()
