"""What every test shares: Qt without a display, and the guard on the test data's use."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Before anything imports Qt: it aborts where there is neither a display nor this setting.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import opscope_testdata as testdata
import pytest

_USED = "used_test_data"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a test data folder that was named but is not there; set the guard on it."""
    if os.environ.get(testdata.ENVIRONMENT_VARIABLE) and not testdata.available():
        raise pytest.UsageError(
            f"{testdata.ENVIRONMENT_VARIABLE} names {testdata.root()}, "
            "which has no models/catalog.json"
        )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Guard(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Count the test data's uses from here: what collection used is not a test's."""
    testdata.take_uses()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note on the test's report that it used the test data, so that workers pass it on."""
    try:
        return (yield)
    finally:
        if testdata.take_uses():
            item.user_properties.append((_USED, True))


class _Guard:
    """Fails a full run in which the test data was there and no test used it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._users = 0
        self._failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and not report.skipped:
            self._users += (_USED, True) in map(tuple, report.user_properties)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._failed = (
            exitstatus == pytest.ExitCode.OK
            and self._is_full_run()
            and testdata.available()
            and self._users == 0
        )
        if self._failed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._failed:
            terminalreporter.write_line(
                f"error: the test data is at {testdata.root()}, but no test that ran used it",
                red=True,
            )

    def _is_full_run(self) -> bool:
        option = self._config.option
        return (
            self._config.args_source == pytest.Config.ArgsSource.TESTPATHS
            and not option.keyword
            and option.markexpr in ("", "not slow")
            and not option.collectonly
        )
