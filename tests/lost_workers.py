"""A worker of pytest-xdist that ends by itself fails the run: one that ends before its first test is missed by nobody else."""

import pytest
from xdist.workermanage import WorkerController

LOST = pytest.StashKey[list[str]]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController, error: object | None) -> None:
    """Remember a worker that ended."""
    if error:
        node.config.stash.setdefault(LOST, []).append(f"worker {node.gateway.id} ended: {error}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run, whatever the tests say that did run."""
    if session.config.stash.get(LOST, []) and session.exitstatus in {
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    }:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which ones ended."""
    for text in terminalreporter.config.stash.get(LOST, []):
        terminalreporter.write_line(text, red=True)
