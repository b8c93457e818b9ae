"""A control plane of Amazon EKS that is left."""

from collections.abc import Iterator
from typing import Any

import job_bench
import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS where a control plane takes a fraction of a second."""
    folder = tmp_path_factory.mktemp("aws")
    with job_bench.job_aws(folder, JobSettings(speed=3000)) as found:
        yield found


@pytest.fixture
def clean_aws(server: EmbeddedAws) -> EmbeddedAws:
    server.reset()
    return server


def test_a_control_plane_that_no_cluster_uses(project: Any) -> None:
    iam = project.aws.client("iam")
    iam.create_role(RoleName="Operator", AssumeRolePolicyDocument="{}")
    project.describe(
        "orchestrator: eks\nkubernetes: {access: [{role: Operator, policy: cluster-admin}]}\n"
    )
    project.deploy("TrainNetwork", "TrainControlPlane")

    found = project.orphans()["waste"]

    assert [each["name"] for each in found] == ["TrainControlPlane", "TrainNetwork"]
    assert found[0]["size"].startswith("1 EKS cluster")
    for each in found:
        project.run(each["command"])
    left = project.orphans()
    assert left["waste"] == []
    assert {each["what"] for each in left["kept"]} == {"key", "log group"}
