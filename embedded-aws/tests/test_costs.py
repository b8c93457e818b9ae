"""Marks say what a test costs, so that the cheap ones can be run first."""

import re

import pytest

MODULE = """
    import aws_cdk as cdk
    import pytest
    from skips import needs

    from embedded_aws.process import start

    @pytest.fixture
    def server():
        return start(None)

    def test_cheap(tmp_path): ...

    def test_with_a_clean_aws(clean_aws): ...

    def test_with_a_server_of_its_own(server): ...

    def test_synthesis():
        cdk.App().synth()

    @needs(root="it mounts")
    def test_mount(): ...
"""


@pytest.mark.parametrize(
    ("marked", "tests"),
    [
        ("server", ["with_a_clean_aws", "with_a_server_of_its_own"]),
        ("synth", ["synthesis"]),
        ("root", ["mount"]),
        ("not (server or synth or root)", ["cheap"]),
    ],
)
def test_a_mark_selects_what_costs_that(
    pytester: pytest.Pytester, marked: str, tests: list[str]
) -> None:
    pytester.makeini("[pytest]\naddopts = -p skips -p costs --strict-markers")
    pytester.makepyfile(MODULE)

    shown = pytester.runpytest("--collect-only", "-q", "-m", marked).stdout.str()

    assert re.findall(r"::test_(\w+)", shown) == tests
