"""Jobs of AWS Batch in an image that buildah built and pushed."""

import base64
from pathlib import Path
from typing import Any

import skips
from job_bench import JobBench

from embedded_aws.embedded import EmbeddedAws

PLAIN = "--tls-verify=false"
DOCKERFILE = """\
FROM localhost/base
USER root
RUN rm -r /usr/share/doc && useradd --create-home --groups games trainer && \\
    install -d -o trainer /training && ln -s /etc/os-release /training/release
USER trainer
ENV MODEL=bert
WORKDIR /training
ENTRYPOINT ["sh", "-c", "echo $MODEL on $(hostname); exec \\"$@\\"", "entrypoint"]
"""


def test_nodes_run_in_the_image(
    aws: EmbeddedAws, builder: Any, ecr: Any, repository: str, tmp_path: Path
) -> None:
    skips.unless("ip", "nsenter", "unshare", root="images have files of many users")
    builder.make("train:v1", DOCKERFILE)
    (data,) = ecr.get_authorization_token()["authorizationData"]
    user, _, password = base64.b64decode(data["authorizationToken"]).decode().partition(":")
    login = ("-u", user, "-p", password, data["proxyEndpoint"].partition("//")[2])
    file = str(tmp_path / "auth.json")
    builder.done("login", PLAIN, "--authfile", file, *login)
    builder.done("push", PLAIN, "--authfile", file, "train:v1", f"docker://{repository}:v1")
    [image] = ecr.describe_images(repositoryName="train")["imageDetails"]
    jobs = JobBench(aws)
    uri = f"123456789012.dkr.ecr.us-west-2.amazonaws.com/train@{image['imageDigest']}"
    script = (
        "grep ^ID= release; ls /usr/share/doc; id -nG; touch mine; grep $(hostname)$ /etc/hosts"
    )

    job = jobs.run(["sh", "-c", script], nodes=2, image=uri)

    assert job["status"] == "SUCCEEDED", job
    for index in range(2):
        node = jobs.describe(f"{job['jobId']}#{index}")
        address = node["container"]["networkInterfaces"][0]["privateIpv4Address"]
        name = f"ip-{address.replace('.', '-')}"
        entrypoint, release, gone, groups, host = jobs.lines(node)
        assert (entrypoint, release, groups) == (f"bert on {name}", "ID=debian", "trainer games")
        assert gone.endswith("No such file or directory")
        assert host.split() == [address, name]
