"""What a changed query continues from: its checkpoint, a new one, or that of the query before."""
