"""What the names of a file mean: files with their imports, symbols, types, inherited features."""
