"""Compiled Avro codecs: Python code generated for one schema, which handles valid values and payloads; all others go to
slower functions.
"""
