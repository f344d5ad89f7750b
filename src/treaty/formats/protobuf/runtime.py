"""Messages of a schema as Google's runtime knows them, made from its descriptors alone."""

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.protobuf.encoding.files import DEFAULT_NAME, serialize_descriptor
from treaty.formats.protobuf.model import ProtoSchema


def build_pool(schema: ProtoSchema) -> DescriptorPool:
    """The files of a schema and of what it imports. Raises `TypeError` for one that the runtime does not take."""
    made = DescriptorPool()
    for one in schema.files.values():
        made.AddSerializedFile(serialize_descriptor(one))
    return made


def get_first_message(schema: ProtoSchema) -> Descriptor | None:
    """The first message of a schema; None if it has none, or none that the runtime takes."""
    if not schema.file.messages:
        return None
    try:
        file = build_pool(schema).FindFileByName(schema.path or DEFAULT_NAME)
    except (TypeError, KeyError):
        return None
    return file.message_types_by_name[schema.file.messages[0].name]


def create_message(descriptor: Descriptor) -> Message:
    """A message of which nothing is set."""
    return GetMessageClass(descriptor)()
