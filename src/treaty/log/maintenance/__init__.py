"""Maintenance of logs: inspection, verification, backup, migration and repair. Nodes do not use it."""
