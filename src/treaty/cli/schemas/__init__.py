"""Commands about schema files. They need no server."""
