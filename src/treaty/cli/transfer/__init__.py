"""Commands that move schemas between registries, files and contexts."""
