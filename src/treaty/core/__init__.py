"""The nouns and the laws: no I/O, no clock, no randomness, nothing third-party."""
