"""Lints of Avro schemas, one row each."""
