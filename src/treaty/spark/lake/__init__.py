"""Lake tables in three formats: idempotent appends, added columns, widened types."""
