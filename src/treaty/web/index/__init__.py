"""The search index: a copy of what schemas say, in an SQLite file that all workers of a server read."""
