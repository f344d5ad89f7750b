"""``python -m examples.demo``: what `make demo` runs."""

from examples.demo.command import command

if __name__ == "__main__":
    command(prog_name="python -m examples.demo")
