"""Where commands are handed over, and the headers of that."""

PATH = "/treaty/peer/commands"
SECRET = "Treaty-Peer-Secret"  # noqa: S105 (the name of a header)
REFUSED = "treaty-peer"
"""Stands in an answer of the inner door itself that took no command: whoever sent it knows that nothing is done."""
