"""Schemas from columns: the latest version of a subject where it holds them, grown where it does not."""
