"""State tables as columns: a segment holds most rows compressed and never changes, and what came since lies over it."""
