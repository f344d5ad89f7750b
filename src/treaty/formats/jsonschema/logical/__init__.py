"""JSON Schemas as logical types, and logical types as JSON Schemas."""
