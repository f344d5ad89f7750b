"""One session of the demo: starts the server, runs the demo, writes the report and stops all processes."""

from contextlib import suppress
from pathlib import Path

from rich.console import Console

from examples.demo.demo_run import DemoRun
from examples.demo.page import build_page
from examples.demo.processes import find_free_port, start_server, wait_for_server
from examples.demo.progress import print_report, show_progress
from treaty.assemble import connect


def run_demo(folder: Path, rows: int, *, stay: bool) -> bool:
    """Run the demo in an empty folder and return whether its counts add up. With `stay` the server runs until Ctrl-C."""
    console = Console()
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        server = start_server(f"sqlite://{folder / 'registry.db'}", port, log)
        try:
            with connect(url) as registry:
                wait_for_server(registry, server)
                console.print(
                    f"[b]treaty serve[/b] answers at [link={url}/docs]{url}[/link]; its log is {folder / 'registry.db'}",
                    highlight=False,
                    soft_wrap=True,
                )
                with show_progress(console, rows) as audience:
                    result = DemoRun(folder, registry, url, rows, audience).run()
            target = folder / "report.html"
            target.write_text(build_page(result), encoding="utf-8")
            print_report(console, result, target)
            if stay:
                console.print(f"The registry stays at {url}; end it with Ctrl-C.")
                with suppress(KeyboardInterrupt):
                    server.popen.wait()
        finally:
            server.stop()
    return result.holds
