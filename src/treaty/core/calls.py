"""What a `Call` may hold: the same at every door, and never more than any of them can carry."""

from treaty.core.limits import COMMAND_ID
from treaty.core.refusals import Invalid
from treaty.core.registry import Call, Token

CONSISTENCIES = ("latest", "strict", "eventual")
"""What a call may ask for. `FRESH` are those that memory alone never answers."""
FRESH = frozenset({"latest", "strict"})


def refuse_bad_call(call: Call) -> None:
    """Raise `Invalid` for a consistency, a command id or a token that is none."""
    if call.consistency not in {"", *CONSISTENCIES}:
        message = f"{call.consistency[:100]!r} is no consistency"
        raise Invalid.of("CONSISTENCY", message, new=call.consistency[:100], allowed=", ".join(CONSISTENCIES))
    word = call.command_id
    if len(word) > COMMAND_ID or not _is_word(word):
        shown, allowed = word[:COMMAND_ID], f"at most {COMMAND_ID} printable characters of ASCII"
        raise Invalid.of("COMMAND_ID", f"{shown!r} is no command id", new=shown, allowed=allowed)
    if call.after is not None:
        text = str(call.after)
        if not _is_word(text) or Token.parse(text) != call.after:
            shown = text[:100]
            raise Invalid.of("TOKEN", f"{shown!r} is no token", new=shown, allowed="a token that a registry gave")


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable()
