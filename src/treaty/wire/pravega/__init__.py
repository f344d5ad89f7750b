"""The messages of Pravega's schema registry (PDP-1), both ways, without routes."""
