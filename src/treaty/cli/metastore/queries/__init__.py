"""Running and watching queries."""
