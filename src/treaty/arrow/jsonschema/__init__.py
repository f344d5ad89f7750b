"""Decodes JSON frames to Arrow, to the same values as Spark's `from_json`."""
