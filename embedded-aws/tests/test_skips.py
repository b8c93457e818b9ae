"""In CI, what root skips fails; what others skip is listed, for root to run."""

from pathlib import Path

import pytest

MODULE = """
    import pytest

    @pytest.fixture
    def engine():
        pytest.skip("no engine")

    @pytest.mark.skipif(True, reason="no program")
    def test_marked(): ...

    def test_setup(engine): ...

    def test_call():
        pytest.skip("no huge pages")

    @pytest.mark.xfail
    def test_expected_to_fail():
        assert False

    def test_passes(): ...
"""
SKIPPED_MODULE = "import pytest\npytest.skip('no library', allow_module_level=True)"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Tests that skip everywhere, run by root in CI."""
    pytester.makeini("[pytest]\naddopts = -p skips")
    pytester.makepyfile(test_tests=MODULE, test_module=SKIPPED_MODULE)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("CI", "true")
    monkeypatch.delenv("TRAINSHED_SKIPPED_TESTS", raising=False)
    return pytester


def test_root_skips_nothing_in_ci(suite: pytest.Pytester) -> None:
    tests = suite.runpytest("test_tests.py")
    module = suite.runpytest("test_module.py")

    tests.assert_outcomes(passed=1, xfailed=1, failed=1, errors=2)
    tests.stdout.fnmatch_lines_random(
        [
            "test_tests.py::test_marked: in CI root skips nothing. Skipped: no program",
            "test_tests.py::test_setup: in CI root skips nothing. Skipped: no engine",
            "test_tests.py::test_call: in CI root skips nothing. Skipped: no huge pages",
        ]
    )
    module.assert_outcomes(errors=1)
    module.stdout.fnmatch_lines(["test_module.py: in CI root skips nothing. Skipped: no library"])


@pytest.mark.parametrize(("user", "ci"), [(1000, "true"), (0, "")], ids=["user", "not-in-ci"])
def test_others_skip(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, user: int, ci: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setenv("CI", ci)

    suite.runpytest().assert_outcomes(passed=1, xfailed=1, skipped=4)


def test_what_was_skipped_is_listed_and_can_be_run_by_the_list(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listed = tmp_path / "skipped"
    monkeypatch.setenv("TRAINSHED_SKIPPED_TESTS", str(listed))
    monkeypatch.delenv("CI")

    suite.makepyfile(test_whole_life="import pytest\ndef test_once(): pytest.skip('no guest')")

    suite.runpytest()

    skipped = listed.read_text().splitlines()
    # The longest, which are alone in their files, first.
    assert skipped == [
        "test_module.py",
        "test_whole_life.py::test_once",
        "test_tests.py::test_marked",
        "test_tests.py::test_setup",
        "test_tests.py::test_call",
    ]
    suite.runpytest(*skipped).assert_outcomes(skipped=5)


def test_these_tests_are_under_it(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("skips")


def test_what_a_test_needs_is_reported_before_its_fixtures_are_made(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    suite.makepyfile(
        test_needs="""
        import pytest
        from skips import needs

        @pytest.fixture
        def broken():
            raise ZeroDivisionError

        @needs("no-such-program")
        def test_program(broken): ...

        @needs(root="it mounts")
        def test_root(broken): ...
        """
    )

    tests = suite.runpytest("test_needs.py", "-rs")

    tests.assert_outcomes(skipped=2)
    tests.stdout.fnmatch_lines_random(
        [
            "SKIPPED * test_needs.py:*: needs no-such-program: run `make tools` as root on *",
            "SKIPPED * test_needs.py:*: needs root, for instance by sudo: it mounts",
        ]
    )
