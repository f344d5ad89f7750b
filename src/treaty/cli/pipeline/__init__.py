"""`treaty pipeline …`: streams of frames into tables, from a TOML file."""
