"""The rules of a syntax or edition, for every kind of definition."""
