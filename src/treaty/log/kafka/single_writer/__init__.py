"""`writers=owner`: one record per row, truly compacted; one node owns the log, and fences the one before it."""
