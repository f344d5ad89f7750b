"""`treaty demo`: real flights through a real registry and Spark, a crash in between, and a proof at the end."""

from treaty.cli.demo.entry import command

__all__ = ["command"]
