"""Avro's binary encoding, as Python code written for one schema: what fits at once is quick, all else is left to others."""
