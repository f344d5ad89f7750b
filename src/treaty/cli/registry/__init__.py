"""Commands for every day: one file for each noun of a registry."""
