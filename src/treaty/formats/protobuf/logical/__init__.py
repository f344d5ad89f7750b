"""Protobuf schemas as logical types, and logical types as Protobuf schemas."""
