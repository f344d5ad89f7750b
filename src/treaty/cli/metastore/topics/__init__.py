"""Statements and commands that read topics: records as they are, and the command topic of ksqlDB."""
