"""Serializers and deserializers: values to framed records and back, with the schema id before the payload or the guid
in a header.
"""
