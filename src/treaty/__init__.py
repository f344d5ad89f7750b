"""Treaty: a schema registry and streaming metastore; take a `Registry` with `treaty.assemble.connect(url)`."""
