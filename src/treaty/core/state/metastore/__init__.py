"""The tables of the metastore."""
