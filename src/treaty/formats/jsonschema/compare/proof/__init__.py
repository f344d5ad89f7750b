"""A simple proof that a reader allows whatever a writer allows; where none is found, the obstacles."""
