"""Tables with one row per key: upserts, deletes by tombstones, and late changes that lose."""
