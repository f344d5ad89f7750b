"""Messages of a schema as Google's runtime knows them, made from its descriptors alone."""

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_text import text_error
from treaty.formats.protobuf.encoding.files import DEFAULT_NAME, serialize_descriptor
from treaty.formats.protobuf.model import ProtoSchema


def build_pool(schema: ProtoSchema) -> DescriptorPool:
    """The files of a schema and of what it imports. Raises `InvalidSchemaError` for one that the runtime does not take: it
    has smaller limits than the language, such as 64 KiB for all fields of one message in memory.
    """
    pool = DescriptorPool()
    for file in schema.files.values():
        try:
            pool.AddSerializedFile(serialize_descriptor(file))
        except TypeError as error:
            message = f"Protobuf's runtime does not take the file {file.path or DEFAULT_NAME}: {str(error)[:300]}"
            raise text_error("RUNTIME_REFUSES", message, "messages with fewer fields") from error
    return pool


def get_first_message(schema: ProtoSchema) -> Descriptor | None:
    """The first message of a schema; None if it has none, or none that the runtime takes."""
    if not schema.file.messages:
        return None
    try:
        file = build_pool(schema).FindFileByName(schema.path or DEFAULT_NAME)
    except (InvalidSchemaError, KeyError):
        return None
    return file.message_types_by_name[schema.file.messages[0].name]


def create_message(descriptor: Descriptor) -> Message:
    """A message of which nothing is set."""
    return GetMessageClass(descriptor)()
