"""Casts that there are between column types, and what can go wrong in each. None loses anything without a check."""

from collections.abc import Mapping

from treaty.core.state.columns import ColumnType, Decimal, Scalar
from treaty.plan.encoding.fit import LossCheck

Cast = tuple[str, tuple[LossCheck, ...]]
"""A way of `CONVERSIONS`, and what is checked after it."""
FITS, EXACT, CLOCK = LossCheck("fits"), LossCheck("exact"), LossCheck("clock")
DIGITS: Mapping[str, int] = {"int32": 10, "int64": 19}
FLOATS = ("float32", "float64")
TEXTS = frozenset({"boolean", "date", "timestamp", "timestamp_ntz", *DIGITS, *FLOATS})
"""Scalars that have a text, and are read from one."""
CLOCKS = frozenset({"date", "timestamp", "timestamp_ntz"})
SAFE = frozenset({("int32", "int64"), ("int32", "float64"), ("float32", "float64")})
READ: Mapping[str, str] = {
    **dict.fromkeys(("float32", "float64", "decimal"), "digits"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), "text"),
}
"""By type, what is checked where it is read from a text, besides that it is one at all."""


def cast(have: ColumnType, want: Scalar | Decimal) -> Cast | None:
    """How a value of one type becomes one of another; None where it does not."""
    if have == want:
        return ("json" if want == Scalar("variant") else "keep"), ()
    if have == Scalar("null"):
        return "cast", ()
    if want == Scalar("variant"):
        return _to_variant(have)
    if not isinstance(have, Scalar | Decimal):
        return None
    if _number(have) and _number(want):
        return "cast", _loss(have, want)
    if isinstance(want, Scalar) and want.name == "string":
        return _to_text(have)
    if have == Scalar("string") and (isinstance(want, Decimal) or want.name in TEXTS):
        name = "decimal" if isinstance(want, Decimal) else want.name
        return "cast", (FITS, LossCheck(READ[name])) if name in READ else (FITS,)
    if have == Scalar("string") and want == Scalar("binary"):
        return "cast", ()
    if isinstance(have, Scalar) and isinstance(want, Scalar) and {have.name, want.name} <= CLOCKS:
        return "cast", (EXACT,) if want.name == "date" else () if have.name == "date" else (CLOCK,)
    return None


def _to_variant(have: ColumnType) -> Cast | None:
    """JSON text: texts are taken to be JSON, values with parts become JSON."""
    if have == Scalar("string"):
        return "keep", ()
    if isinstance(have, Scalar):
        return ("cast", ()) if have.name in {"boolean", *DIGITS} else None
    return None if isinstance(have, Decimal) else ("json", ())


def _to_text(have: Scalar | Decimal) -> Cast | None:
    if isinstance(have, Decimal) or have.name in TEXTS:
        return "cast", (CLOCK,) if have == Scalar("timestamp") else ()
    if have.name == "variant":
        return "json", ()
    return ("cast", (LossCheck("utf8"),)) if have.name == "binary" else None


def _number(kind: Scalar | Decimal) -> bool:
    return isinstance(kind, Decimal) or kind.name in DIGITS or kind.name in FLOATS


def _loss(have: Scalar | Decimal, want: Scalar | Decimal) -> tuple[LossCheck, ...]:
    """What a number may lose: what is cast back must be what it was."""
    if isinstance(want, Decimal):
        scale = have.scale if isinstance(have, Decimal) else 0
        if isinstance(have, Decimal) or have.name in DIGITS:
            digits = have.precision - have.scale if isinstance(have, Decimal) else DIGITS[have.name]
            short, cut = digits > want.precision - want.scale, scale > want.scale
            return (*((FITS,) if short else ()), *((EXACT,) if cut else ()))
        return FITS, EXACT
    if want.name in FLOATS:
        if have == Scalar("float64"):
            return LossCheck("overflow"), EXACT
        return () if isinstance(have, Scalar) and (have.name, want.name) in SAFE else (EXACT,)
    if isinstance(have, Scalar) and (have.name, want.name) in SAFE:
        return ()
    return (FITS,) if isinstance(have, Scalar) and have.name in DIGITS else (FITS, EXACT)
