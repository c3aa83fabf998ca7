"""What all tests have: the library, started for each test and ended after it, and lines that ./dev test counts."""

import gc
import os

import pytest

import op2jit


@pytest.fixture
def running():
    """The library on the backend that OP2_BACKEND names."""
    with op2jit.runtime(diags=0):
        yield op2jit
        gc.collect()


def pytest_configure(config):
    config.addinivalue_line("markers", "compiled: of backends that compile, and of no other")
    config.addinivalue_line("markers", "long: what takes longer")
    config.addinivalue_line("markers", "native: of the native backend, where kernels run as Python")


def pytest_collection_modifyitems(config, items):
    """What has no meaning on this backend is no test of it."""
    other = "compiled" if os.environ.get("OP2_BACKEND") == "native" else "native"
    items[:] = [item for item in items if not item.get_closest_marker(other)]


def pytest_terminal_summary(terminalreporter):
    """As cmocka says it."""
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr))
        terminalreporter.write_line(f"[  SKIPPED ] {report.nodeid}")
