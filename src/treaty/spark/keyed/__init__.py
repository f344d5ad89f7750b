"""Tables with one row per key: rows replace what is there, delete markers delete it, and what comes late loses."""
