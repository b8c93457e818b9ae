"""What the README shows works as it stands there."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.server
README = Path(__file__).parents[1] / "README.md"


def test_the_example_of_a_test_passes(pytester: pytest.Pytester) -> None:
    [example] = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.S)
    pytester.makepyfile(example)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    result.assert_outcomes(passed=1)
