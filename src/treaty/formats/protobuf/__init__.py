"""Protobuf, proto2 to edition 2024: reading, linking, printing, comparing."""
