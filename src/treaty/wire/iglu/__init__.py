"""Messages of Iglu Server, both ways: schemas, lists, keys and reports; and the checks of its linter."""
