"""Nodes that AWS Batch keeps without a job and whose first boot fails: they come no more."""

from collections.abc import Callable
from pathlib import Path

import job_bench
import pytest
from command_bench import until
from command_line import Answer
from deployed_jobs import deploy_stacks

from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.jobs.nodes import running_nodes
from trainshed.plan import load_fleet

CLUSTER = """name: FailCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {min: 2, max: 2}}
image: {uri: "registry.example/train:1"}
storage: {efs: {}}
"""


def test_nodes_whose_boot_fails_are_replaced_a_limited_number_of_times(
    tmp_path: Path,
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "fail.yaml"
    file.write_text(CLUSTER)
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=60)) as aws:
        publish_ami(aws)
        assembly = synthesise(load_fleet([file]))
        deploy_stacks(aws, assembly, "FailNetwork", "FailEfs", "FailCluster")
        aws.lead_here(monkeypatch)
        region = Region("us-west-2", aws.client)

        def nodes() -> list[str]:
            booted = running_nodes(region, "FailCluster", {"trainshed:boot": "ok"})
            return [each.instance_id for each in booted]

        until(lambda: len(nodes()) == 2, "both nodes")
        # What a first boot reads.
        ssm = aws.client("ssm")
        pages = ssm.get_paginator("describe_parameters").paginate()
        names = [name for name in pages.search("Parameters[].Name") if "/efs/" in name]
        ssm.delete_parameters(Names=names)
        aws.client("ec2").terminate_instances(InstanceIds=nodes())

        def environment() -> tuple[str, int]:
            batch = aws.client("batch")
            [described] = batch.describe_compute_environments()["computeEnvironments"]
            return described["state"], described["computeResources"]["minvCpus"]

        until(lambda: environment() == ("DISABLED", 0), "the end of the launches")
        until(lambda: not running_nodes(region, "FailCluster"), "the end of the nodes")
        told = trainshed("status", str(file))

        assert told.code == 1
        assert "is DISABLED, so that no node is launched" in told.out
        ended = aws.client("ec2").describe_instances(
            Filters=[{"Name": "tag:trainshed:cluster", "Values": ["FailCluster"]}]
        )["Reservations"]
        reasons = [each["Instances"][0]["StateReason"]["Code"] for each in ended]
        # At the third in 3 hours; others may have been launched meanwhile.
        assert 3 <= reasons.count("Client.InstanceInitiatedShutdown") <= 6
