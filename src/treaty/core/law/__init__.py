"""The law, a file for each kind of request; `treaty.core.decide` is its door."""
