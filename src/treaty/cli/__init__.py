"""The command line: one file for each noun, loaded when it is used."""
