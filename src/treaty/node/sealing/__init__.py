"""Sensitive metadata at rest: sealed on the way from the law into the log, opened on the way back."""
