"""ProtoJSON of messages, with each `google.protobuf.Any` in the types of the message's own files.

Google's runtime looks the type of an `Any` up in the pool of the process, so the text would depend on what the process has
imported, and it refuses a whole message for one type that it does not find. Here the pool is that of the message. An `Any`
whose type is not there, or whose bytes are none of its type, keeps its bytes: ``{"@type": URL, "value": BASE64}``.
"""

import base64
import json
from typing import Any

from google.protobuf.json_format import _Printer as ProtoJsonPrinter  # type: ignore[attr-defined]  # nothing public prints an Any otherwise
from google.protobuf.message import DecodeError, Message

from treaty.core.limits import ANY_NESTING

UNPRINTABLE = (DecodeError, KeyError, RecursionError, TypeError, ValueError)
"""What the runtime raises for an `Any` of an unknown type, with bytes that are none, or with values that JSON has no form for."""


class _AnyPrinter(ProtoJsonPrinter):  # type: ignore[misc]  # its stub has no such class
    """Google's printer, which keeps the bytes of an `Any` that it can't print."""

    def __init__(self, pool: Any) -> None:
        super().__init__(descriptor_pool=pool)
        self._nesting = 0

    def _AnyMessageToJsonObject(self, message: Any) -> Any:  # noqa: N802 - the printer's own name
        self._nesting += 1
        try:
            return _keep_bytes(message) if self._nesting > ANY_NESTING else super()._AnyMessageToJsonObject(message)
        except UNPRINTABLE:
            return _keep_bytes(message)
        finally:
            self._nesting -= 1


def _keep_bytes(message: Any) -> dict[str, str]:
    return {"@type": message.type_url, "value": base64.b64encode(message.value).decode()}


def make_json_value(message: Message) -> Any:
    """A message as a value of JSON, by ProtoJSON. Raises `SerializeToJsonError`, `TypeError` or `ValueError` for a value that JSON has no
    form for, such as a number of seconds beyond all timestamps; inside an `Any` such a value makes no error.
    """
    return _AnyPrinter(message.DESCRIPTOR.file.pool)._MessageToJsonObject(message)  # noqa: SLF001 - its only method without text


def print_protojson(message: Message) -> str:
    """The text of `make_json_value`, without line breaks, with sorted names: keys of a map have no order, and each process has another.

    Raises the same.
    """
    try:
        return json.dumps(make_json_value(message), ensure_ascii=False, sort_keys=True)
    except RecursionError:
        if message.DESCRIPTOR.full_name != "google.protobuf.Any":
            raise
        return json.dumps(_keep_bytes(message), ensure_ascii=False)
