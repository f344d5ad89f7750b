"""Texts of rows as the bytes that a SQL store keeps, and back."""


def to_bytes(text: str | None) -> bytes | None:
    """Encode a text as UTF-8. Half characters, which JSON can carry, are encoded too."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def bound(text: str) -> str | bytes:
    """Return what SQLite's binding takes for a text: the text itself, or its bytes where it may have half characters."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    r"""Decode what `to_bytes` encoded. Bytes that were changed and are no UTF-8 any more are shown as ``\xNN``: such a row
    counts as unreadable and moves the state root, and all other rows can still be read.
    """
    try:
        return str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return str(data, "utf-8", "backslashreplace")
