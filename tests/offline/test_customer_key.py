"""A cluster with a key and a permissions boundary of its owner, as docs/security.md describes."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import job_bench
import pytest

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

ROOT = Path(__file__).parents[2]
POLICY, *_ = re.findall(r"```json\n(.*?)```", (ROOT / "docs/security.md").read_text(), re.DOTALL)
BOUNDARY = {
    "Version": "2012-10-17",
    "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"},
}

Template = Callable[..., dict[str, Any]]


@pytest.fixture
def template(synthesise: Callable[[Fleet], Path]) -> Template:
    """Synthesises a cluster and returns the template of one of its stacks."""

    def read(stack: str, **security: Any) -> dict[str, Any]:
        fields = {"name": "TrainCluster", "region": "us-west-2", **security}
        fields["instance"] = {"type": "trn1.32xlarge"}
        assembly = synthesise(plan_fleet([ClusterSpec.model_validate(fields)]))
        found: dict[str, Any] = json.loads((assembly / f"{stack}.template.json").read_text())
        return found

    return read


def test_the_documented_key_policy_is_enough_and_less_is_refused(
    clean_aws: EmbeddedAws, template: Template
) -> None:
    kms = clean_aws.client("kms")
    statements = json.loads(POLICY)["Statement"]
    closed = {"Version": "2012-10-17", "Statement": statements[:1]}
    key, other = (
        kms.create_key(Policy=policy)["KeyMetadata"]["Arn"]
        for policy in (POLICY, json.dumps(closed))
    )

    with pytest.raises(DeploymentFailed, match="is not allowed to be used with Arn"):
        clean_aws.deploy(template("TrainNetwork", kms_key=other), stack_name="Closed")
    clean_aws.deploy(template("TrainNetwork", kms_key=key), stack_name="TrainNetwork")
    clean_aws.deploy(template("TrainContainers", kms_key=key), stack_name="TrainContainers")

    groups = clean_aws.client("logs").describe_log_groups()["logGroups"]
    [repository] = clean_aws.client("ecr").describe_repositories(repositoryNames=["train"])[
        "repositories"
    ]
    assert groups
    assert {group.get("kmsKeyId") for group in groups} == {key}
    assert repository["encryptionConfiguration"] == {"encryptionType": "KMS", "kmsKey": key}


@pytest.mark.parametrize(
    ("sids", "speed", "starts"),
    [
        pytest.param(
            ("Account", "Logs", "VolumesOfNodes", "GrantsForVolumesOfNodes"), 60, True, id="all"
        ),
        # The 45 minutes of the creation policy pass in some seconds.
        pytest.param(("Account", "Logs", "VolumesOfNodes"), 600, False, id="no-grants"),
    ],
)
def test_nodes_start_if_auto_scaling_may_use_the_key(
    publish_ami: Callable[..., str],
    synthesise: Callable[[Fleet], Path],
    tmp_path: Path,
    sids: tuple[str, ...],
    speed: int,
    starts: bool,
) -> None:
    policy = json.loads(POLICY)
    policy["Statement"] = [each for each in policy["Statement"] if each["Sid"] in sids]
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=speed)) as aws:
        publish_ami(aws, "neuron/ec2")
        key = aws.client("kms").create_key(Policy=json.dumps(policy))["KeyMetadata"]["Arn"]
        spec = {"name": "TrainCluster", "region": "us-west-2", "kms_key": key}
        spec |= {"orchestrator": "ec2", "instance": {"type": "trn1.32xlarge"}}
        assembly = synthesise(plan_fleet([ClusterSpec.model_validate(spec)]))

        def deploy(stack: str) -> None:
            template = json.loads((assembly / f"{stack}.template.json").read_text())
            aws.deploy(template, stack_name=stack)

        deploy("TrainNetwork")
        if starts:
            deploy("TrainCluster")
        else:
            with pytest.raises(DeploymentFailed, match="Received 0 SUCCESS signal"):
                deploy("TrainCluster")
            group = aws.client("ec2").describe_instances()["Reservations"][0]["Instances"][0]
            assert group["State"]["Name"] == "terminated"


def test_a_key_can_be_given_to_log_groups_that_exist(
    clean_aws: EmbeddedAws, template: Template
) -> None:
    key = clean_aws.client("kms").create_key(Policy=POLICY)["KeyMetadata"]["Arn"]
    clean_aws.deploy(template("TrainNetwork"), stack_name="TrainNetwork")

    clean_aws.deploy(template("TrainNetwork", kms_key=key), stack_name="TrainNetwork")

    groups = clean_aws.client("logs").describe_log_groups()["logGroups"]
    assert {group.get("kmsKeyId") for group in groups} == {key}


def test_another_key_for_a_repository_is_refused_and_rolled_back(
    clean_aws: EmbeddedAws, template: Template
) -> None:
    key = clean_aws.client("kms").create_key(Policy=POLICY)["KeyMetadata"]["Arn"]
    clean_aws.deploy(template("TrainContainers"), stack_name="TrainContainers")

    with pytest.raises(DeploymentFailed, match="put kms_key back, or name another repository"):
        clean_aws.deploy(template("TrainContainers", kms_key=key), stack_name="TrainContainers")

    stacks = clean_aws.client("cloudformation").describe_stacks(StackName="TrainContainers")[
        "Stacks"
    ]
    assert stacks[0]["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"


def test_roles_carry_a_boundary_that_exists(clean_aws: EmbeddedAws, template: Template) -> None:
    iam, absent = clean_aws.client("iam"), "arn:aws:iam::123456789012:policy/Absent"
    boundary = iam.create_policy(PolicyName="TeamBoundary", PolicyDocument=json.dumps(BOUNDARY))
    arn = boundary["Policy"]["Arn"]

    with pytest.raises(DeploymentFailed, match="does not exist or is not attachable"):
        clean_aws.deploy(template("TrainNetwork", iam={"boundary": absent}), stack_name="Absent")
    rules = {"boundary": arn, "prefix": "team-a-"}
    clean_aws.deploy(template("TrainNetwork", iam=rules), stack_name="TrainNetwork")

    names = [role["RoleName"] for role in iam.list_roles()["Roles"]]
    ours = [name for name in names if name.startswith("team-a-us-west-2-TrainNetwork-")]
    assert ours
    for name in ours:
        found = iam.get_role(RoleName=name)["Role"]["PermissionsBoundary"]
        assert found["PermissionsBoundaryArn"] == arn
