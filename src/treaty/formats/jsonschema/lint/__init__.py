"""Advice about JSON Schemas, off unless somebody asks for it by name."""
