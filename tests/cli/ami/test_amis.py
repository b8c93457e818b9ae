"""`trainshed ami list|test|prune`: which AMIs there are, and which may go."""

import base64
import json
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from embedded_aws.faults import Fault
from trainshed.ami.trial import read_console

Command = Callable[..., Any]
WEST, EAST = "us-west-2", "us-east-1"
BUILD = "20261101T120000Z"


def row_of(answer: Any, name: str) -> dict[str, Any]:
    """Return the record of one AMI or snapshot."""
    for record in answer.json:
        if name in (record.get("image_id"), record.get("name")):
            found: dict[str, Any] = record
            return found
    raise AssertionError(f"{name} is not in {answer.out}")


def test_list_shows_channels_users_and_where_it_came_from(trainshed: Command, account: Any) -> None:
    image = account.bake()
    trainshed("ami", "publish", image)
    instance = account.launch(image)

    row = row_of(trainshed("ami", "list", "--json"), image)

    assert (row["cell"], row["build"], row["commit"]) == ("neuron/ecs", BUILD, "0123abc")
    assert row["channels"] == ["neuron/ecs candidate"]
    assert row["in_use_by"] == [f"instance {instance} (running)"]


def test_list_has_every_region_asked_for_and_nobody_elses_images(
    trainshed: Command, account: Any
) -> None:
    west, east = account.bake(), account.bake(region=EAST)
    account.image("somebody's", tags={})

    answer = trainshed("ami", "list", "--region", WEST, "--region", EAST, "--json")

    assert {row["image_id"]: row["region"] for row in answer.json} == {west: WEST, east: EAST}


def test_list_says_which_permission_it_lacked(trainshed: Command, account: Any) -> None:
    image = account.bake()
    account.aws.fail(
        Fault(service="ec2", operation="DescribeLaunchTemplates", code="UnauthorizedOperation")
    )

    answer = trainshed("ami", "list")

    assert answer.code == 0
    assert image in answer.out
    assert "ec2:DescribeLaunchTemplates" in answer.err


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the command, it is two days later."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=2)

    monkeypatch.setattr("trainshed.cli.ami.amis.datetime", Later)


def test_prune_without_yes_removes_nothing(trainshed: Command, account: Any, later: None) -> None:
    image = account.bake()

    answer = trainshed("ami", "prune")

    assert answer.code == 0
    assert "goes" in answer.out and "repeat with --yes" in answer.err
    assert account.image_ids() == {image}


def test_prune_removes_an_unused_image_and_its_snapshots(
    trainshed: Command, account: Any, later: None
) -> None:
    image = account.bake()
    ec2 = account.aws.client("ec2")
    (described,) = ec2.describe_images(ImageIds=[image])["Images"]
    snapshot = described["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"]

    answer = trainshed("ami", "prune", "--yes", "--json")

    assert row_of(answer, image)["verdict"] == "removed"
    assert account.image_ids() == set()
    left = ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]
    assert snapshot not in {one["SnapshotId"] for one in left}


def test_prune_leaves_images_that_no_build_of_ours_made(
    trainshed: Command, account: Any, later: None
) -> None:
    foreign = account.image("somebody's", tags={})

    answer = trainshed("ami", "prune", "--yes", "--json")

    assert answer.json == []
    assert account.image_ids() == {foreign}


def test_prune_keeps_what_is_younger_than_a_day(trainshed: Command, account: Any) -> None:
    image = account.bake()

    row = row_of(trainshed("ami", "prune", "--yes", "--json"), image)

    assert (row["verdict"], row["reasons"]) == ("stays", ["younger than a day"])


def stopped_instance(account: Any, image: str) -> str:
    instance: str = account.launch(image)
    account.aws.client("ec2").stop_instances(InstanceIds=[instance])
    return f"instance {instance} (stopped)"


def old_version_of_a_launch_template(account: Any, image: str) -> str:
    ec2 = account.aws.client("ec2")
    stock = account.stock_image()
    ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={"ImageId": image})
    for _ in range(20):
        ec2.create_launch_template_version(
            LaunchTemplateName="nodes", LaunchTemplateData={"ImageId": stock}
        )
    return "launch template nodes:1"


def parameter_version_in_a_launch_template(account: Any, image: str) -> str:
    ssm, name = account.aws.client("ssm"), "/team/nodes"
    for value in (image, account.stock_image()):
        ssm.put_parameter(Name=name, Value=value, Type="String", Overwrite=True)
    account.aws.client("ec2").create_launch_template(
        LaunchTemplateName="nodes", LaunchTemplateData={"ImageId": f"resolve:ssm:{name}:1"}
    )
    return "launch template nodes:1"


def compute_environment(account: Any, image: str) -> str:
    iam, ec2 = account.aws.client("iam"), account.aws.client("ec2")
    trusted = {"Version": "2012-10-17", "Statement": []}
    iam.create_role(RoleName="node", AssumeRolePolicyDocument=json.dumps(trusted))
    iam.create_instance_profile(InstanceProfileName="node")
    profile = iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    assert profile
    subnet = account.subnets[WEST][0]
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    arn = iam.get_instance_profile(InstanceProfileName="node")["InstanceProfile"]["Arn"]
    account.aws.client("batch").create_compute_environment(
        computeEnvironmentName="train",
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "maxvCpus": 4,
            "instanceTypes": ["m6i.xlarge"],
            "subnets": [subnet],
            "securityGroupIds": [group],
            "instanceRole": arn,
            "ec2Configuration": [{"imageType": "ECS_AL2023", "imageIdOverride": image}],
        },
    )
    return "compute environment train"


def launch_configuration(account: Any, image: str) -> str:
    account.aws.client("autoscaling").create_launch_configuration(
        LaunchConfigurationName="old-nodes", ImageId=image, InstanceType="m6i.xlarge"
    )
    return "launch configuration old-nodes"


def share(account: Any, image: str) -> str:
    account.aws.client("ec2").modify_image_attribute(
        ImageId=image, LaunchPermission={"Add": [{"UserId": "210987654321"}]}
    )
    return "shared with 210987654321, where we cannot look"


def make_public(account: Any, image: str) -> str:
    account.aws.client("ec2").modify_image_attribute(
        ImageId=image, LaunchPermission={"Add": [{"Group": "all"}]}
    )
    return "shared with every account, so its users cannot be listed"


def protect(account: Any, image: str) -> str:
    account.aws.client("ec2").enable_image_deregistration_protection(ImageId=image)
    return "protected from being deregistered"


@pytest.mark.parametrize(
    "use",
    [
        stopped_instance,
        old_version_of_a_launch_template,
        parameter_version_in_a_launch_template,
        compute_environment,
        launch_configuration,
        share,
        make_public,
        protect,
    ],
)
def test_prune_keeps_an_image_in_use_and_says_by_what(
    trainshed: Command, account: Any, later: None, use: Callable[[Any, str], str]
) -> None:
    used, unused = account.bake(), account.bake("20261102T120000Z")
    reason = use(account, used)

    answer = trainshed("ami", "prune", "--yes", "--json")

    assert row_of(answer, used)["reasons"] == [reason]
    assert row_of(answer, unused)["verdict"] == "removed"
    assert account.image_ids() == {used}


def test_prune_does_not_keep_the_image_of_a_terminated_instance(
    trainshed: Command, account: Any, later: None
) -> None:
    image = account.bake()
    account.aws.client("ec2").terminate_instances(InstanceIds=[account.launch(image)])

    trainshed("ami", "prune", "--yes")

    assert account.image_ids() == set()


def test_prune_keeps_the_newest_of_each_channels_history(
    trainshed: Command, account: Any, later: None
) -> None:
    images = [account.bake(f"2026110{day}T120000Z") for day in range(1, 5)]
    for image in images:
        trainshed("ami", "publish", image)
    # Rolled back and published again: more versions, not more AMIs.
    trainshed("ami", "rollback", "candidate", "--cell", "neuron/ecs")
    trainshed("ami", "publish", images[3])

    answer = trainshed("ami", "prune", "--keep", "2", "--yes", "--json")

    assert row_of(answer, images[3])["reasons"] == ["neuron/ecs candidate"]
    assert row_of(answer, images[2])["reasons"] == ["neuron/ecs candidate, 1 back"]
    assert account.image_ids() == set(images[2:])


@pytest.mark.parametrize(
    ("service", "operation", "code", "action"),
    [
        ("ec2", "DescribeInstances", "UnauthorizedOperation", "ec2:DescribeInstances"),
        ("autoscaling", "DescribeLaunchConfigurations", "AccessDenied",
         "autoscaling:DescribeLaunchConfigurations"),
        ("ssm", "GetParameterHistory", "AccessDeniedException", "ssm:GetParameterHistory"),
        ("ec2", "DescribeImageAttribute", "UnauthorizedOperation", "ec2:DescribeImageAttribute"),
    ],
)  # fmt: skip
def test_prune_that_cannot_look_keeps_everything_and_names_the_permission(
    trainshed: Command, account: Any, later: None, service: str, operation: str, code: str,
    action: str,
) -> None:  # fmt: skip
    image, published = account.bake(), account.bake("20261102T120000Z")
    trainshed("ami", "publish", published)
    account.aws.fail(Fault(service=service, operation=operation, code=code, count=None))

    row = row_of(trainshed("ami", "prune", "--yes", "--json"), image)

    assert row["verdict"] == "stays"
    assert "could not look" in row["reasons"][0] and action in row["reasons"][0]
    assert account.image_ids() == {image, published}


def test_prune_says_what_it_may_not_remove_and_goes_on(
    trainshed: Command, account: Any, later: None
) -> None:
    denied, other = account.bake(), account.bake("20261102T120000Z")
    account.aws.fail(
        Fault(
            service="ec2",
            operation="DeregisterImage",
            code="UnauthorizedOperation",
            when={"ImageId": denied},
        )
    )

    answer = trainshed("ami", "prune", "--yes", "--json")

    assert answer.code == 1
    assert "ec2:DeregisterImage" in row_of(answer, denied)["verdict"]
    assert row_of(answer, other)["verdict"] == "removed"


def test_a_snapshot_that_stayed_goes_with_the_next_prune(
    trainshed: Command, account: Any, later: None
) -> None:
    account.bake()
    account.aws.fail(Fault(service="ec2", operation="DeleteSnapshot", code="UnauthorizedOperation"))

    first = trainshed("ami", "prune", "--yes", "--json")
    second = trainshed("ami", "prune", "--yes", "--json")

    assert first.code == 1
    assert "ec2:DeleteSnapshot" in first.json[0]["verdict"]
    assert [row["verdict"] for row in second.json] == ["removed"]
    assert second.json[0]["name"] == first.json[0]["snapshots"][0]
    assert trainshed("ami", "prune", "--json").json == []


def test_prune_keeps_at_least_what_channels_point_to(trainshed: Command, aws: Any) -> None:
    answer = trainshed("ami", "prune", "--keep", "0")

    assert (answer.code, answer.out) == (2, "")
    assert "--keep must be at least 1" in answer.err


def test_an_instance_under_test_is_terminated_when_the_test_fails(
    trainshed: Command, account: Any
) -> None:
    image = account.bake()
    account.aws.fail(
        Fault(
            service="ec2",
            operation="GetConsoleOutput",
            code="UnauthorizedOperation",
            count=None,
        )
    )

    answer = trainshed("ami", "test", image, "--subnet", account.subnets[WEST][0])

    assert answer.code == 1
    assert "ec2:GetConsoleOutput" in answer.err
    assert list(account.instances().values()) == ["terminated"]


def test_an_instance_under_test_ends_itself_and_takes_no_key(
    trainshed: Command, account: Any
) -> None:
    image = account.bake()
    account.aws.fail(
        Fault(service="ec2", operation="GetConsoleOutput", code="InvalidParameterValue")
    )

    trainshed("ami", "test", image, "--subnet", account.subnets[WEST][0])

    (instance,) = account.instances()
    ec2 = account.aws.client("ec2")
    described = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    attribute = ec2.describe_instance_attribute(InstanceId=instance, Attribute="userData")
    script = base64.b64decode(attribute["UserData"]["Value"]).decode()
    assert "KeyName" not in described
    assert "shutdown -P" in script and "{" + "minutes}" not in script


def console_of(described: bytes) -> list[str]:
    """Return the lines that an instance under test writes."""
    text = base64.b64encode(zlib.compress(described)).decode()
    parts = [text[start : start + 100] for start in range(0, len(text), 100)]
    return [
        f"trainshed-selftest {number}/{len(parts)} {zlib.crc32(part.encode()):08x} {part}"
        for number, part in enumerate(parts, 1)
    ]


TOLD = {
    "ami": {"accelerator": "neuron"},
    "components": [
        {"name": f"c{n}", "version": str(n * 7919), "expected": "", "state": "ok", "detail": ""}
        for n in range(40)
    ],
    "ok": True,
}


def test_a_self_test_is_read_from_a_console_among_other_lines() -> None:
    lines = console_of(json.dumps(TOLD).encode())
    assert len(lines) > 3

    console = "[ 1.0] Linux\r\n" + "\r\n[ 2.0] audit: x\r\n".join(lines) + "\r\nlogin: "

    assert read_console(console) == TOLD


def test_a_spoiled_line_is_taken_from_the_next_round() -> None:
    lines = console_of(json.dumps(TOLD).encode())
    spoiled = [lines[0][:60] + "[ 3.0] oom" + lines[0][60:], *lines[1:]]

    once, twice = "\n".join(spoiled), "\n".join(spoiled + lines)

    assert read_console(once) is None
    assert read_console(twice) == TOLD


def test_a_self_test_that_says_no_json_is_not_well() -> None:
    described = read_console("\n".join(console_of(b"Traceback (most recent call last):")))

    assert described is not None
    assert described["ok"] is False
