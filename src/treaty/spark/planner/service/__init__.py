"""A planner as a program: its process, what starts and ends it, and its work on the statements of a registry."""
