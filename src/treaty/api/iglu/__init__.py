"""The API of Iglu Server, below ``/api``."""
