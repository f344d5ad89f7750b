"""Commands for who looks after a log."""
