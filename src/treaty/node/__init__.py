"""A running member of a registry: it follows the log, holds the tables, answers and writes."""
