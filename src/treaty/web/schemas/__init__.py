"""What the pages show of one schema: its text with colours, its fields as a tree, an example, programs that read it."""
