"""Explanations of framed records, byte by byte: the meaning and value of each piece."""
