"""Commands that copy schemas between registries, files and contexts."""
