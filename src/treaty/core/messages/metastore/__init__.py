"""Requests and answers of the metastore: sources and types, plans, scripts, and what runners ask."""
