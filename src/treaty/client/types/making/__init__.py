"""Classes made from schemas, one module for each format."""
