"""Known files by path, each made when it is first asked for."""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.formats.protobuf.descriptors.classes import file_class
from treaty.formats.protobuf.descriptors.files import file
from treaty.formats.protobuf.known.texts import TEXTS
from treaty.formats.protobuf.model import ProtoFile
from treaty.formats.protobuf.syntax.file import read

_INSTALLED: Mapping[str, str] = {
    "google/api": "annotations auth backend billing client config_change consumer context control distribution "
    "documentation endpoint error_reason field_behavior field_info http httpbody label launch_stage log logging metric "
    "monitored_resource monitoring policy quota resource routing service source_info system_parameter usage visibility",
    "google/cloud": "common_resources extended_operations",
    "google/cloud/location": "locations",
    "google/gapic/metadata": "gapic_metadata",
    "google/logging/type": "http_request log_severity",
    "google/protobuf": "any api descriptor duration empty field_mask source_context struct timestamp type wrappers",
    "google/protobuf/compiler": "plugin",
    "google/rpc": "code error_details http status",
    "google/rpc/context": "attribute_context audit_context",
    "google/type": "calendar_period color date datetime dayofweek decimal expr fraction interval latlng localized_text "
    "money month phone_number postal_address quaternion timeofday",
}
"""Folders and names of the files that installed packages bring as modules."""

_MODULES = {
    f"{folder}/{name}.proto": f"{folder.replace('/', '.')}.{name}_pb2"
    for folder, names in _INSTALLED.items()
    for name in names.split()
}

_MODULES["google/longrunning/operations.proto"] = "google.longrunning.operations_proto_pb2"

PATHS = frozenset(_MODULES) | frozenset(TEXTS)
"""Paths that need no reference."""


def descriptor(path: str) -> FileDescriptorProto | None:
    """The descriptor of a known file as its package brings it; None for those that are kept as text."""
    module = _MODULES.get(path)
    if module is None:
        return None
    return file_class().FromString(import_module(module).DESCRIPTOR.serialized_pb)


@lru_cache(maxsize=len(PATHS))
def known(path: str) -> ProtoFile | None:
    """The model of a known file, or None; made once."""
    proto = descriptor(path)
    if proto is not None:
        return file(proto)
    return read(TEXTS[path]) if path in TEXTS else None
