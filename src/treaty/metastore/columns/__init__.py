"""Columns of sources: from schemas, to schemas, and what a refreshed schema does to readers."""
