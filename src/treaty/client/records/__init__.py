"""Records as people write and read them: JSON to framed bytes, and framed bytes to JSON."""
