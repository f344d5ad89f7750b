"""The protocol between nodes: forwarded commands and their replies."""
