"""`treaty demo`: real flights go through a registry and Spark into tables, with a crash on the way and a check of all
counts at the end.
"""

from treaty.cli.demo.entry import command

__all__ = ["command"]
