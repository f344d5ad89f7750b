"""Records as JSON: JSON values to framed bytes, and framed bytes to JSON values."""
