"""Drafts as versions of a subject: read, identified, completed and inspected."""
