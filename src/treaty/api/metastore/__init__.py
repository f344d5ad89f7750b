"""The API of the metastore: statements in, results out; sources, types and queries as pages."""
