"""Protobuf models printed as text: canonical, normal, and without extensions."""
