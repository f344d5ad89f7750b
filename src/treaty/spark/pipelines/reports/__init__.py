"""Reports of a pipeline: counts, batches, lag, metrics, and what it would do."""
