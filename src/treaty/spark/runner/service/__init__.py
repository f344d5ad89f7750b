"""The runner as a service: it follows the registry, and keeps its queries running."""
