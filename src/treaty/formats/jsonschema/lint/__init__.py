"""Advice about JSON Schemas; a registration is held to a lint that its policy names, and `treaty lint` reports those of `lint_settings`."""
