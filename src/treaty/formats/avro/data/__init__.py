"""Data of an Avro schema: the columns that hold it, values in JSON encoding that are checked, and examples."""
