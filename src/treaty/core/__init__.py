"""The core: requests, answers, state and the handlers that decide. No I/O, no clock, no randomness, no third-party
library.
"""
