"""Decode and encode plans, in pure Python: writers, reader, and the schemas and conversions for Spark and Arrow."""
