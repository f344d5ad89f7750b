"""Commands that inspect and maintain a log."""
