"""Rows as payloads, in whole columns of Arrow: what workers of Python do when Spark encodes."""
