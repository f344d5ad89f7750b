"""Records to bytes and back, with the schema's id in front or its guid in a header."""
