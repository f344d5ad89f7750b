"""Plans for encoding: how the columns of a frame become payloads of one schema, and why a row may not."""
