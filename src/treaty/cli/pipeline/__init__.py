"""`treaty pipeline …`: Spark streams from topics into tables, described by TOML files."""
