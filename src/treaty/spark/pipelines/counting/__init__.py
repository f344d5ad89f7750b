"""What batches did: counts by schema id and error, kept beside the checkpoint."""
