"""The rules of comparing two JSON Schemas, as rows, by the noun that they are about."""
