"""Node to node: commands that one node hands to another, and what comes of them."""
