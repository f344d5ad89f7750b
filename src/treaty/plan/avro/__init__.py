"""Plans for Avro: readers bounded and merged, writers fitted to them, many of them woven into one."""
