"""Avro schemas as logical types, and logical types as Avro schemas."""
