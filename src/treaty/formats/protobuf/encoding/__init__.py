"""Linked files as descriptors, Protobuf's own form of a compiled file."""
