"""Statements carried out: a parsed statement becomes requests of a registry, and their answers one result."""
