"""Commands that another node decides in this one's place."""
