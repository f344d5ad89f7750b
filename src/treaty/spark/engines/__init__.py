"""Engines: what turns payloads into values, one frozen record of functions for each way to do it."""
