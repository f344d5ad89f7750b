"""Sets of descriptors, as protoc compiles them, turned into a schema: which file defines a type, and which imports come with it,
in what order. A missing import is refused.
"""

import base64
from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from treaty.core.finding import Diagnostic
from treaty.core.schema import Pairs
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptors.classes import get_set_class
from treaty.formats.protobuf.encoding.files import DEFAULT_NAME
from treaty.formats.protobuf.well_known import PATHS


def select_file(data: bytes, type_name: str) -> bytes:
    """Return the set of the file that defines a message, with what it imports, itself last.

    Without a type the first file that has a message is meant. Raises `InvalidSchemaError` for bytes that are no set of
    descriptors, a type that no file defines, and an import that is missing.
    """
    chosen = get_set_class()()
    chosen.file.extend(_needed_files(data, type_name))
    return chosen.SerializeToString(deterministic=True)


def split_set(data: bytes, type_name: str) -> tuple[str, Pairs]:
    """Return the base64 of the file that defines a message, and by path that of each file that it imports, directly or
    not; files that are known everywhere are left out, and places in texts too.

    Raises as `select_file`.
    """
    *imports, own = _needed_files(data, type_name)
    return _print_file(own), tuple(sorted((one.name, _print_file(one)) for one in imports if one.name not in PATHS))


def _print_file(file: FileDescriptorProto) -> str:
    alone = get_set_class()()
    alone.file.append(file)
    alone.file[0].ClearField("source_code_info")
    return base64.b64encode(alone.SerializeToString(deterministic=True)).decode()


def _needed_files(data: bytes, type_name: str) -> list[FileDescriptorProto]:
    """Return the file that defines a message, and before it all that it imports, directly or not, each before what imports it."""
    files = _read(data)
    own = next((one for one in files if _defines(one, type_name)), None)
    if own is None:
        fault = "no file of the set defines a message" if not type_name else f"no file of the set defines {type_name}"
        raise _make_error(fault, "a type that the set defines")
    chosen: list[FileDescriptorProto] = []
    by_name = {one.name: one for one in files}
    placed: set[str] = set()
    waiting = [(own.name, False)]  # names of files, and whether their imports are placed
    while waiting:
        name, is_ready = waiting.pop()
        if name in placed or (name in PATHS and name not in by_name):
            continue
        if name not in by_name:
            raise _make_error(f"the import '{name}' is not in the set", "all files that the file needs")
        if is_ready:
            placed.add(name)
            chosen.append(by_name[name])
        else:
            waiting.append((name, True))
            waiting.extend((one, False) for one in by_name[name].dependency if one not in placed and one != name)
            # Without a circle a path has each file once, and each of its files adds at most all files.
            if len(waiting) > len(by_name) ** 2 + len(PATHS) + 1:
                raise _make_error("the files import each other", "files that need each other in one direction")
    return chosen


def _read(data: bytes) -> list[FileDescriptorProto]:
    try:
        descriptor_set: FileDescriptorSet = get_set_class().FromString(data)
    except DecodeError:
        descriptor_set = get_set_class()()
    files = list(descriptor_set.file)
    if not files:
        raise _make_error("the bytes are no set of descriptors", "a serialized FileDescriptorSet with one file or more")
    for file in files:
        file.name = file.name or DEFAULT_NAME
    return files


def _defines(file: FileDescriptorProto, type_name: str) -> bool:
    if not type_name:
        return bool(file.message_type)
    package, name = file.package, type_name
    if package:
        if not type_name.startswith(f"{package}."):
            return False
        name = type_name[len(package) + 1 :]
    return _is_inside(file.message_type, name.split("."))


def _is_inside(messages: Iterable[DescriptorProto], words: list[str]) -> bool:
    for message in messages:
        if message.name == words[0]:
            return len(words) == 1 or _is_inside(message.nested_type, words[1:])
    return False


def _make_error(message: str, expected: str) -> InvalidSchemaError:
    return InvalidSchemaError((Diagnostic("DESCRIPTOR_INVALID", "", message, expected),))
