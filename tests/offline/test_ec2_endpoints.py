"""A cluster of plain EC2 in a network without NAT, which has endpoints alone."""

import json
from collections.abc import Callable
from pathlib import Path

import job_bench
import pytest

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.plan import plan_fleet
from trainshed.spec import ClusterSpec


def add_endpoints(aws: EmbeddedAws, vpc: str, services: set[str]) -> None:
    ec2 = aws.client("ec2")
    [table] = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])[
        "RouteTables"
    ]
    for service in services:
        interface = {"VpcEndpointType": "Interface", "PrivateDnsEnabled": True}
        gateway = {"VpcEndpointType": "Gateway", "RouteTableIds": [table["RouteTableId"]]}
        ec2.create_vpc_endpoint(
            VpcId=vpc,
            ServiceName=f"com.amazonaws.us-west-2.{service}",
            **(gateway if service == "s3" else interface),
        )


@pytest.mark.parametrize(
    ("lacking", "speed"),
    [
        pytest.param(set(), 60, id="none"),
        # The 45 minutes of the creation policy pass in some seconds.
        pytest.param({"cloudformation"}, 600, id="cloudformation"),
    ],
)
def test_nodes_boot_with_endpoints_for_what_the_plan_says_that_they_call(
    publish_ami: Callable[..., str],
    synthesise: Callable[..., Path],
    tmp_path: Path,
    lacking: set[str],
    speed: int,
) -> None:
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=speed)) as aws:
        publish_ami(aws, "neuron/ec2")
        ec2 = aws.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.30.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(
            VpcId=vpc, CidrBlock="10.30.0.0/20", AvailabilityZoneId="usw2-az4"
        )["Subnet"]["SubnetId"]
        spec = ClusterSpec.model_validate(
            {
                "name": "PlainCluster",
                "region": "us-west-2",
                "zone": "usw2-az4",
                "orchestrator": "ec2",
                "instance": {"type": "trn1.32xlarge"},
                "network": {"vpc": vpc, "subnet": subnet},
            }
        )
        fleet = plan_fleet([spec])
        add_endpoints(aws, vpc, {*fleet.clusters[0].services} - lacking)
        assembly = synthesise(fleet)

        def deploy() -> None:
            template = json.loads((assembly / "PlainCluster.template.json").read_text())
            aws.deploy(template, stack_name="PlainCluster")

        if lacking:
            with pytest.raises(DeploymentFailed, match="Received 0 SUCCESS signal"):
                deploy()
        else:
            deploy()
            [node] = aws.client("ssm").describe_instance_information()["InstanceInformationList"]
            [tag] = ec2.describe_tags(
                Filters=[
                    {"Name": "resource-id", "Values": [node["InstanceId"]]},
                    {"Name": "key", "Values": ["trainshed:boot"]},
                ]
            )["Tags"]
            assert tag["Value"] == "ok"
