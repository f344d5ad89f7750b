"""A framed record told byte by byte: what each byte is, and what it says."""
