"""How much work a call does, in instructions of one folder of the package: the same number on every machine and at each run."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_instructions(call: Callable[[], object], folder: str) -> int:
    """Return the number of Python's instructions that a call runs in modules under `src/treaty/{folder}`."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if f"treaty/{folder}" not in frame.f_code.co_filename:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
