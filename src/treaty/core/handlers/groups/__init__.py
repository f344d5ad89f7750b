"""Handlers of subjects as groups: their life, their settings, and their versions by ordinal and type."""
