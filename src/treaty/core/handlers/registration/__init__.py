"""Registration: a schema becomes a version, as it is sent or derived from another one."""
