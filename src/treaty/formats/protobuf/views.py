"""Other forms of a linked file: its descriptor, and fingerprints."""

import base64
import hashlib

from treaty.formats.protobuf.encoding.files import descriptor_set, serialized
from treaty.formats.protobuf.model import Schema


def serialized_view(schema: Schema) -> str:
    """The descriptor of the file in base64, without what it imports."""
    return base64.b64encode(serialized(schema)).decode()


def pravega(schema: Schema) -> bytes:
    """SHA-256 of the descriptors of the file and of all that it imports, in the order in which they need each other."""
    return hashlib.sha256(descriptor_set(schema).SerializeToString(deterministic=True)).digest()
