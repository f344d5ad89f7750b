"""Values of a JSON Schema: checked, made up, and laid out in columns."""
