"""Commands about Iglu: schemas in its registries, and self-describing values."""
