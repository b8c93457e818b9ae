"""Each minor version that is built: it is the version that it says, and JobSet works on it."""

from itertools import pairwise
from pathlib import Path

import pytest
from cluster_bench import JOBSETS, add_nodes, eventually, jobset, namespace, placed

from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.kubernetes.control_plane import start
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES, MINOR_VERSIONS, patch_of
from embedded_aws.kubernetes.settings import ControlPlaneSettings

pytestmark = pytest.mark.server


# The default one is asked for, wherever tests run. Each of the others takes minutes to build.
VERSIONS = [each for each in MINOR_VERSIONS if each == DEFAULT_KUBERNETES or not unavailable(each)]


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_says_what_it_is_and_places_a_jobset(version: str, tmp_path: Path) -> None:
    if reason := unavailable(version):
        pytest.skip(reason)
    found = start(ControlPlaneSettings(folder=str(tmp_path), kubernetes=version, jobset=True))
    try:
        said = found.administrator.call("GET", "/version")
        space = namespace(found, "job")
        add_nodes(found, "whole", 2)
        found.administrator.call("POST", JOBSETS.format(space), jobset("job", "whole", 2))
        eventually(lambda: len(placed(found, space)) == 2)

        assert said["gitVersion"] == f"v{patch_of(version)}"
        assert placed(found, space) == ["whole-0", "whole-1"]
    finally:
        found.stop()


@pytest.mark.parametrize(
    ("before", "after"), [(DEFAULT_KUBERNETES, DEFAULT_KUBERNETES), *pairwise(VERSIONS)]
)
def test_each_version_goes_on_with_what_the_one_before_has(
    before: str, after: str, tmp_path: Path
) -> None:
    if reason := unavailable(before):
        pytest.skip(reason)
    found = start(ControlPlaneSettings(folder=str(tmp_path), kubernetes=before, jobset=True))
    try:
        space = namespace(found, "job")
        found.administrator.call("POST", JOBSETS.format(space), jobset("job", "whole", 2))

        found.update(after)
        add_nodes(found, "whole", 2)

        assert found.administrator.call("GET", "/version")["gitVersion"] == f"v{patch_of(after)}"
        eventually(lambda: len(placed(found, space)) == 2)
    finally:
        found.stop()
