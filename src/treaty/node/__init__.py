"""The node: follows the log, holds the tables, answers queries and writes commands."""
