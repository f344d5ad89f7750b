"""Decode plans for Avro: readers limited in depth and merged, writers rewritten for the reader, and all combined in one
envelope schema.
"""
