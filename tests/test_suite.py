"""What holds for the suite itself."""

import pytest
from hypothesis import HealthCheck, settings


def test_no_property_test_depends_on_how_busy_the_machine_is() -> None:
    profile = settings()

    assert profile.deadline is None
    assert HealthCheck.too_slow in profile.suppress_health_check


def test_no_skip_escapes_ci(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("skips")
