"""Jobs in images, on nodes whose AMI mounts the instance store."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from image_bench import Layer, push
from image_registry import serving_registry
from job_bench import JobBench, job_aws
from plugin_package import write_plugin
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

PLUGIN = """
from embedded_aws.plugins import Plugin

class Storing(Plugin):
    def instance_store_mounts(self):
        return {"storing-.+": "/local"}

PLUGIN = Storing()
"""
VOLUME: dict[str, Any] = {
    "volumes": [{"name": "local", "host": {"sourcePath": "/local"}}],
    "mountPoints": [{"sourceVolume": "local", "containerPath": "/local"}],
}

pytestmark = needs(
    "docker-registry", "ip", "unshare", "nsenter", root="images have files of many users"
)


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """With a registry, and a plug-in that knows an AMI."""
    folder = tmp_path_factory.mktemp("store")
    write_plugin(folder, "storing", PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        with (
            serving_registry(folder) as registry,
            job_aws(folder, JobSettings(), registry=registry) as aws,
        ):
            yield aws


@pytest.fixture(scope="module")
def image(aws: EmbeddedAws) -> str:
    """An image with a user of its own."""
    layer = Layer()
    for name in ("sh", "touch", "ls", "stat"):
        layer.add_program(f"bin/{name}", name)
    return push(aws, "train", [layer], {"User": "2000", "Env": ["PATH=/bin"]})[0]


def bench(aws: EmbeddedAws, ami: str, instance_type: str) -> JobBench:
    name = f"{ami}-{instance_type}"
    ami_id = aws.client("ec2").register_image(Name=name)["ImageId"]
    return JobBench(aws, instance_type=instance_type, ami=ami_id)


def test_each_node_has_a_store_of_its_own_where_every_user_writes(
    aws: EmbeddedAws, image: str
) -> None:
    nodes = bench(aws, "storing", "trn1.32xlarge")

    job = nodes.run(
        "touch /local/$AWS_BATCH_JOB_NODE_INDEX && ls /local && stat -c %a /local",
        nodes=2,
        image=image,
        **VOLUME,
    )

    said = [nodes.lines(nodes.describe(f"{job['jobId']}#{index}")) for index in range(2)]
    assert said == [["0", "1777"], ["1", "1777"]]


@pytest.mark.parametrize(
    ("ami", "instance_type"),
    [
        pytest.param("storing", "inf2.48xlarge", id="a-type-without-a-store"),
        pytest.param("other", "trn1.32xlarge", id="an-ami-that-mounts-none"),
    ],
)
def test_without_a_store_docker_makes_a_folder_of_root(
    aws: EmbeddedAws, image: str, ami: str, instance_type: str
) -> None:
    nodes = bench(aws, ami, instance_type)

    # Docker's documentation, "Bind mounts": what is missing on the host is made, as root's.
    job = nodes.run("touch /local/file || stat -c '%a %u' /local", image=image, **VOLUME)

    assert nodes.lines(job)[-1] == "755 0"
