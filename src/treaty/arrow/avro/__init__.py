"""Decodes Avro frames to Arrow by a plan."""
