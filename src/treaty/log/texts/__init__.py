"""Texts of single rows, compressed."""
