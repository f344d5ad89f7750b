"""protoc as an oracle: whether it takes a file, and the descriptor that it makes of it.

The compiler of grpcio-tools runs inside a process of its own, since it writes to the standard error stream and ends the
process for some texts. Run as a program it answers requests, a line of JSON each.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.formats.protobuf.descriptors.classes import get_file_class, get_set_class

ROOT = Path(__file__).parents[2]
BUNDLED = Path(str(files("grpc_tools"))) / "_proto"
SITE = BUNDLED.parents[1]
"""Where googleapis-common-protos leaves its files."""
RENAMED = {"google/longrunning/operations.proto": "google/longrunning/operations_proto.proto"}
"""A file that the package holds under another name than the one under which it is imported."""


@dataclass(frozen=True)
class Verdict:
    """What protoc says: the descriptor, or the messages with which it refused; `crashed` if it ended instead."""

    descriptor: FileDescriptorProto | None
    messages: str
    crashed: bool = False


class Protoc:
    """A running compiler."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None

    def ask(self, text: str, others: Mapping[str, str] | None = None, name: str = "schema.proto") -> Verdict:
        """What protoc says about a text, with the texts of other files by path."""
        texts = {path: encoded(one) for path, one in {**(others or {}), name: text}.items()}
        return self._ask({"files": texts}, name)

    def ask_set(self, files: bytes, name: str) -> Verdict:
        """What protoc says about the file `name` of a serialized descriptor set."""
        return self._ask({"set": base64.b64encode(files).decode()}, name)

    def _ask(self, question: dict[str, Any], name: str) -> Verdict:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
            )
        process = self._process
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({**question, "name": name}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            self.stop()
            return Verdict(None, "", crashed=True)
        answer = json.loads(line)
        if answer["set"] is None:
            return Verdict(None, answer["messages"])
        found = get_set_class().FromString(base64.b64decode(answer["set"]))
        return Verdict(next(one for one in found.file if one.name == name), answer["messages"])


def plain(proto: FileDescriptorProto) -> bytes:
    """The bytes of a descriptor by which two are compared: without options that are set and empty.

    protoc sets them for the empty braces of a method.
    """
    copy = get_file_class().FromString(proto.SerializeToString())
    for service in copy.service:
        for method in service.method:
            if method.HasField("options") and not method.options.ByteSize():
                method.ClearField("options")
    return copy.SerializeToString(deterministic=True)


def encoded(text: str) -> str:
    """A text that may hold anything, for a line of JSON."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def main() -> None:
    """Answer requests until there are no more."""
    from grpc_tools import protoc  # noqa: PLC0415 - only this process loads the compiler

    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        os.dup2(said.fileno(), 1)
        for line in sys.stdin:
            said.seek(0)
            said.truncate()
            answer = _compiled(json.loads(line), protoc)
            said.seek(0)
            answer["messages"] = said.read().decode("utf-8", "replace")
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _compiled(request: dict[str, Any], protoc: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for path, text in request.get("files", {}).items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(base64.b64decode(text))
        out = Path(folder, ".out")
        sources = [f"-I{folder}", f"-I{BUNDLED}", f"-I{SITE}", str(Path(folder, request["name"]))]
        if "set" in request:
            given = Path(folder, ".in")
            given.write_bytes(base64.b64decode(request["set"]))
            sources = [f"--descriptor_set_in={given}", request["name"]]
        arguments = ["protoc", f"--descriptor_set_out={out}", "--retain_options", *sources]
        code = protoc.main(arguments)
        return {"set": base64.b64encode(out.read_bytes()).decode() if code == 0 else None}


if __name__ == "__main__":
    main()
