"""Descriptors, Protobuf's own form of a compiled file, to model."""
