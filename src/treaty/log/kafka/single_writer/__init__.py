"""`writers=owner`: one record per row in a compacted topic; one node owns the log and fences earlier owners."""
