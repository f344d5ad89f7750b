"""Encoding of rows to frames by an encode plan, in batch or streaming, on classic Spark or Connect."""
