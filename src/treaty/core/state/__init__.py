"""The state of a registry: rows and the tables that hold them, views over tables, commits and the state root."""
