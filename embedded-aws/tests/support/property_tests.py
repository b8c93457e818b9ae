"""How the property tests of both suites run."""

import os

from hypothesis import HealthCheck, settings


def load_profile() -> None:
    """Try the same examples in every run, few here and many in CI.

    There is no time limit, because a busy machine is no failure.
    """
    settings.register_profile(
        "ci",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=True,
        database=None,
    )
    settings.register_profile("local", settings.get_profile("ci"), max_examples=25)
    settings.load_profile("ci" if os.environ.get("CI") else "local")
