"""How a node asks another one of its registry."""
