"""Values of a JSON Schema: judged, made up, and laid out in columns."""
