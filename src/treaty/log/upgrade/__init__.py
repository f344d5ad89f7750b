"""Carrying a log of format 1 into a new log of today's format.

Everything here that reads format 1 is frozen: it says by itself what format 1 was, and asks today's tables nothing.
"""
