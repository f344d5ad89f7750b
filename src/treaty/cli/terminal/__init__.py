"""Input and output of commands: options, files, findings, errors, colours."""
