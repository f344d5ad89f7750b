"""One performance of the demo: server, stage, screen and report, and everything stopped at the end."""

from contextlib import suppress
from pathlib import Path

from rich.console import Console

from treaty.assemble import connect
from treaty.cli.demo.page import page
from treaty.cli.demo.processes import answering, free_port, serve
from treaty.cli.demo.screen import report, screen
from treaty.cli.demo.stage import Stage


def perform(folder: Path, rows: int, *, stay: bool) -> bool:
    """Run the demo in an empty folder; tells whether its counts add up. With `stay` the server runs on until Ctrl-C."""
    console = Console()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        server = serve(f"sqlite:///{folder / 'registry.db'}", port, log)
        try:
            with connect(url) as registry:
                answering(registry, server)
                console.print(
                    f"[b]Treaty[/b] serves {url} from one SQLite file, {folder / 'registry.db'}", highlight=False
                )
                with screen(console, rows) as audience:
                    story = Stage(folder, registry, url, rows, audience).play()
            target = folder / "report.html"
            target.write_text(page(story), encoding="utf-8")
            report(console, story, str(target))
            if stay:
                console.print(f"The registry stays at {url}; end it with Ctrl-C.")
                with suppress(KeyboardInterrupt):
                    server.popen.wait()
        finally:
            server.stop()
    return story.holds
