"""Running the programs that documents show."""

import subprocess
import sys
from pathlib import Path


def printed(program: str, folder: Path) -> str:
    """What a program prints, run in a folder of its own."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    return run.stdout
