"""Tests of queries: rows that are given, and rows that are expected, in files of SQL."""
