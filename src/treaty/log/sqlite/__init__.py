"""A log in one SQLite file, for any number of processes of a machine."""
