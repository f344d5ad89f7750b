"""Default values: the text in a descriptor, and the constant in a model."""

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from treaty.formats.protobuf.model import Constant, Word
from treaty.formats.protobuf.syntax.literals import InvalidLiteralError, string


def default(proto: FieldDescriptorProto) -> Constant:
    """The default of a descriptor as a constant; a text that is none of its type becomes a word, which fits nowhere."""
    text: str | bytes = proto.default_value
    if isinstance(text, bytes):  # what is no UTF-8 comes as bytes, whatever the types say
        return text
    kind = FieldDescriptorProto.Type.Name(proto.type).removeprefix("TYPE_").lower() if proto.type else "enum"
    if kind == "string":
        return text.encode("utf-8", "surrogateescape")
    if kind == "bytes":
        try:
            return string(f'"{text}"')
        except InvalidLiteralError:
            return Word(text)
    if kind in ("bool", "enum", "message", "group"):
        return Word(text)
    try:
        if kind in ("float", "double"):
            return float(text) if text not in ("inf", "nan") else Word(text)
        return int(text, 0)
    except ValueError:
        return Word(text)
