"""Decode plans in pure Python: which writers there are, how each is read as the reader, and what Spark is handed."""
