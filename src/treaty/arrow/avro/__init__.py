"""Avro frames to Arrow, read by fastavro along a plan."""
