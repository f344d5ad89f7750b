"""All of a registry as a value: folded from a topic, read from a registry, written to another one."""
