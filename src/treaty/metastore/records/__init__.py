"""Records of sources: literals of statements as values of columns, values as payloads, and where records are written."""
