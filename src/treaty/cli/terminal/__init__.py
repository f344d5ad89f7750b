"""What the commands about schemas take from a terminal and print on it: files, options, faults, colours."""
