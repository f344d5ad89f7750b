"""Commands of the metastore: statements of SQL from a terminal, files and programs."""
