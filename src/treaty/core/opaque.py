"""Opaque schemas, of formats without a plug-in: their bytes, and the text that stands for them."""

import base64
import binascii

CODED = "data:;base64,"
"""What the text of an opaque schema begins with where its bytes are no UTF-8 text, or begin so themselves."""


def opaque_text(data: bytes) -> str:
    """Return the text that stands for the bytes of an opaque schema: the same where they are UTF-8, else base64."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return CODED + base64.b64encode(data).decode()
    return CODED + base64.b64encode(data).decode() if text.startswith(CODED) else text


def opaque_bytes(text: str) -> bytes:
    """Return the bytes that the text of an opaque schema stands for."""
    if text.startswith(CODED):
        try:
            return base64.b64decode(text.removeprefix(CODED), validate=True)
        except binascii.Error:
            pass
    return text.encode("utf-8", "surrogatepass")
