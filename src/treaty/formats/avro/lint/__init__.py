"""Advice about Avro schemas, a row for each piece: off unless somebody asks for it by name."""
