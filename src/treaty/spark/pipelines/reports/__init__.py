"""What a pipeline tells of itself: counts, batches, lag, metrics, and what it would do."""
