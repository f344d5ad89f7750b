"""Well-known files by path: those of installed packages, Confluent's, and features of single languages."""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.formats.protobuf.descriptors.classes import get_file_class
from treaty.formats.protobuf.descriptors.files import read_file
from treaty.formats.protobuf.model import ProtoFile
from treaty.formats.protobuf.syntax.file import parse_file

_META = """syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
option go_package = "../confluent";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
  repeated Rule rules = 4;
}
message Rule {
  string name = 1;
  string doc = 2;
  string expr = 3;
  string sql = 4;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""

_DECIMAL = """syntax = "proto3";
package confluent.type;
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
"""

_DECIMAL_OF_OLD = """syntax = "proto3";
import public "confluent/type/decimal.proto";
"""

_VARIANT = """syntax = "proto3";
package confluent.type;
message Variant {
  bytes metadata = 1;
  bytes value = 2;
}
"""

_CPP = """syntax = "proto2";
package pb;
import "google/protobuf/descriptor.proto";
extend google.protobuf.FeatureSet { optional CppFeatures cpp = 1000; }
message CppFeatures {
  optional bool legacy_closed_enum = 1 [
    targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2023 edition_deprecated: EDITION_2023 }
  ];
  enum StringType { STRING_TYPE_UNKNOWN = 0; VIEW = 1; CORD = 2; STRING = 3; }
  optional StringType string_type = 2 [
    targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_2023 }
  ];
  optional bool enum_name_uses_string_view = 3 [
    targets = TARGET_TYPE_ENUM, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_2024 }
  ];
  enum RepeatedType { REPEATED_TYPE_UNKNOWN = 0; LEGACY = 1; PROXY = 2; }
  optional RepeatedType repeated_type = 4 [
    targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_UNSTABLE }
  ];
}
"""

_JAVA = """syntax = "proto2";
package pb;
import "google/protobuf/descriptor.proto";
option java_package = "com.google.protobuf";
option java_outer_classname = "JavaFeaturesProto";
extend google.protobuf.FeatureSet { optional JavaFeatures java = 1001; }
message JavaFeatures {
  optional bool legacy_closed_enum = 1 [
    targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2023 edition_deprecated: EDITION_2023 }
  ];
  enum Utf8Validation { UTF8_VALIDATION_UNKNOWN = 0; DEFAULT = 1; VERIFY = 2; }
  optional Utf8Validation utf8_validation = 2 [
    targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2023 edition_deprecated: EDITION_2024 }
  ];
  optional bool large_enum = 3 [
    targets = TARGET_TYPE_ENUM, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_2024 }
  ];
  optional bool use_old_outer_classname_default = 4 [
    targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2024 edition_removed: EDITION_2024 }
  ];
  message NestInFileClassFeature {
    enum NestInFileClass {
      NEST_IN_FILE_CLASS_UNKNOWN = 0;
      NO = 1;
      YES = 2;
      LEGACY = 3 [feature_support = { edition_introduced: EDITION_2024 edition_removed: EDITION_2024 }];
    }
    reserved 1 to max;
  }
  optional NestInFileClassFeature.NestInFileClass nest_in_file_class = 5 [
    targets = TARGET_TYPE_MESSAGE, targets = TARGET_TYPE_ENUM, targets = TARGET_TYPE_SERVICE,
    feature_support = { edition_introduced: EDITION_2024 }
  ];
  reserved 6;
}
"""

_GO = """syntax = "proto2";
package pb;
import "google/protobuf/descriptor.proto";
option go_package = "google.golang.org/protobuf/types/gofeaturespb";
extend google.protobuf.FeatureSet { optional GoFeatures go = 1002; }
message GoFeatures {
  optional bool legacy_unmarshal_json_enum = 1 [
    targets = TARGET_TYPE_ENUM, targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2023 edition_deprecated: EDITION_2023 }
  ];
  enum APILevel { API_LEVEL_UNSPECIFIED = 0; API_OPEN = 1; API_HYBRID = 2; API_OPAQUE = 3; }
  optional APILevel api_level = 2 [
    targets = TARGET_TYPE_MESSAGE, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_2023 }
  ];
  enum StripEnumPrefix {
    STRIP_ENUM_PREFIX_UNSPECIFIED = 0;
    STRIP_ENUM_PREFIX_KEEP = 1;
    STRIP_ENUM_PREFIX_GENERATE_BOTH = 2;
    STRIP_ENUM_PREFIX_STRIP = 3;
  }
  optional StripEnumPrefix strip_enum_prefix = 3 [
    targets = TARGET_TYPE_ENUM, targets = TARGET_TYPE_ENUM_ENTRY, targets = TARGET_TYPE_FILE,
    feature_support = { edition_introduced: EDITION_2024 }
  ];
  message OptimizeModeFeature { enum OptimizeMode { OPTIMIZE_MODE_UNSPECIFIED = 0; SPEED = 1; CODE_SIZE = 2; } }
  optional OptimizeModeFeature.OptimizeMode optimize_mode = 4 [
    targets = TARGET_TYPE_MESSAGE, targets = TARGET_TYPE_FILE, feature_support = { edition_introduced: EDITION_2024 }
  ];
}
"""

TEXTS: Mapping[str, str] = {
    "confluent/meta.proto": _META,
    "confluent/type/decimal.proto": _DECIMAL,
    "confluent/types/decimal.proto": _DECIMAL_OF_OLD,
    "confluent/type/variant.proto": _VARIANT,
    "google/protobuf/cpp_features.proto": _CPP,
    "google/protobuf/java_features.proto": _JAVA,
    "google/protobuf/go_features.proto": _GO,
}
"""Texts by the path under which they are imported."""


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


def load_descriptor(path: str) -> FileDescriptorProto | None:
    """The descriptor of a known file as its package brings it; None for those that are kept as text."""
    module = _MODULES.get(path)
    if module is None:
        return None
    return get_file_class().FromString(import_module(module).DESCRIPTOR.serialized_pb)


@lru_cache(maxsize=len(PATHS))
def load_file(path: str) -> ProtoFile | None:
    """The model of a known file, or None; made once."""
    proto = load_descriptor(path)
    if proto is not None:
        return read_file(proto)
    return parse_file(TEXTS[path]) if path in TEXTS else None
