"""Commands about schema files: they need no server, and print nothing but the answer where they are piped."""
