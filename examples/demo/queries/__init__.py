"""The second half of the demo: a query of the metastore runs, is killed, is replaced and goes back."""
