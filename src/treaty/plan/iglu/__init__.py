"""Self-describing data as rows: schemas that are resolved once for a batch, and the columns that their values become."""
