"""What the names of a file mean, and whether it keeps the rules of its syntax or edition."""
