"""`trainshed ami publish|promote|rollback`: what a channel points to, and what it pointed to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.faults import Fault

Command = Callable[..., Any]
WEST, EAST = "us-west-2", "us-east-1"
PARAMETER = "/trainshed/ami/neuron/ecs/candidate"


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., Path]:
    """Write Packer's manifest of a build that made these AMIs."""

    def write(**images: str) -> Path:
        artifact = ",".join(f"{name.replace('_', '-')}:{image}" for name, image in images.items())
        build = {"artifact_id": artifact, "packer_run_uuid": "2"}
        older = {"artifact_id": f"{WEST}:ami-00000000000000000", "packer_run_uuid": "1"}
        path = tmp_path / "manifest.json"
        path.write_text(json.dumps({"builds": [older, build], "last_run_uuid": "2"}))
        return path

    return write


def test_publish_writes_a_parameter_that_aws_knows_as_an_image(
    trainshed: Command, account: Any
) -> None:
    image = account.bake()

    answer = trainshed("ami", "publish", image)

    written = account.aws.client("ssm").get_parameter(Name=PARAMETER)["Parameter"]
    assert (answer.code, written["Value"]) == (0, image)
    assert written["DataType"] == "aws:ec2:image"
    assert image in answer.out and "20261101T120000Z" in answer.out


def test_publishing_again_changes_nothing(trainshed: Command, account: Any) -> None:
    image = account.bake()
    trainshed("ami", "publish", image)

    answer = trainshed("ami", "publish", image, "--json")

    assert [written["action"] for written in answer.json] == ["already there"]
    history = account.aws.client("ssm").get_parameter_history(Name=PARAMETER)["Parameters"]
    assert [version["Version"] for version in history] == [1]


def test_a_channel_that_gets_another_distribution_says_so(trainshed: Command, account: Any) -> None:
    trainshed("ami", "publish", account.bake())

    same = trainshed("ami", "publish", account.bake("20261102T120000Z"))
    ubuntu = account.bake("20261103T120000Z", base="ubuntu-24.04")
    other = trainshed("ami", "publish", ubuntu)

    assert "login name" not in same.err
    assert other.code == 0
    assert (
        "us-west-2: neuron/ecs candidate was on amazon-linux-2023 and is on ubuntu-24.04 now: "
        "its root device and login name are different"
    ) in other.err


def test_a_manifest_is_published_in_every_region_of_the_last_build(
    trainshed: Command, account: Any, manifest: Callable[..., Path]
) -> None:
    west, east = account.bake(), account.bake(region=EAST)

    answer = trainshed("ami", "publish", str(manifest(us_west_2=west, us_east_1=east)))

    assert answer.code == 0
    assert account.channel("candidate") == west
    assert account.channel("candidate", region=EAST) == east


def test_a_half_finished_publish_says_what_is_left_and_can_be_repeated(
    trainshed: Command, account: Any, manifest: Callable[..., Path]
) -> None:
    west, east = account.bake(), account.bake(region=EAST)
    path = str(manifest(us_west_2=west, us_east_1=east))
    account.aws.fail(
        Fault(
            service="ssm",
            operation="PutParameter",
            code="AccessDeniedException",
            message="User: alice is not authorized to perform: ssm:PutParameter on resource: x",
            when={"Value": east},
        )
    )

    half = trainshed("ami", "publish", path)
    whole = trainshed("ami", "publish", path, "--json")

    assert half.code == 1
    assert f"not done: {EAST}; repeat the command" in half.err
    assert "ssm:PutParameter" in half.err and half.err.count("\n") == 1
    assert [w["action"] for w in whole.json] == ["already there", "written"]
    assert account.channel("candidate", region=EAST) == east


def test_nothing_is_written_when_one_region_has_no_such_image(
    trainshed: Command, account: Any, manifest: Callable[..., Path]
) -> None:
    path = manifest(us_west_2=account.bake(), us_east_1="ami-0123456789abcdef0")

    answer = trainshed("ami", "publish", str(path))

    assert answer.code == 1
    assert "ami-0123456789abcdef0 is not an AMI of this account in us-east-1" in answer.err
    assert account.channel("candidate") is None


def test_an_image_that_no_build_of_ours_made_is_refused(trainshed: Command, account: Any) -> None:
    image = account.image("somebody's", tags={})

    answer = trainshed("ami", "publish", image)

    assert answer.code == 1
    assert "no tag trainshed:build" in answer.err


def test_amis_of_different_builds_are_not_published_together(
    trainshed: Command, account: Any, manifest: Callable[..., Path]
) -> None:
    west, east = account.bake(), account.bake("20261102T120000Z", region=EAST)

    answer = trainshed("ami", "publish", str(manifest(us_west_2=west, us_east_1=east)))

    assert answer.code == 1
    assert "different builds" in answer.err
    assert account.channel("candidate") is None


def test_a_parameter_of_another_data_type_is_reported_to_be_deleted(
    trainshed: Command, account: Any
) -> None:
    account.aws.client("ssm").put_parameter(Name=PARAMETER, Value="ami-1", Type="String")

    answer = trainshed("ami", "publish", account.bake())

    assert answer.code == 1
    assert f"aws ssm delete-parameter --name {PARAMETER} --region {WEST}" in answer.err


def test_a_failed_test_keeps_an_image_from_being_published(
    trainshed: Command, account: Any
) -> None:
    image = account.bake()
    account.aws.fail(Fault(service="ec2", operation="RunInstances", code="VcpuLimitExceeded"))

    answer = trainshed("ami", "publish", image, "--test", "--subnet", account.subnets[WEST][0])

    assert answer.code == 1
    assert "VcpuLimitExceeded" in answer.err
    assert account.channel("candidate") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["publish", "none.json"], "none.json cannot be read", id="no-manifest"),
        pytest.param(
            ["publish", "ami-0123456789abcdef0", "--region", "mars"],
            "region 'mars' is not known (known: ",
            id="region",
        ),
        pytest.param(["publish", "."], ". is a directory; name a build's manifest", id="folder"),
        pytest.param(["publish", ""], "give a build's manifest.json or an AMI id", id="nothing"),
        pytest.param(
            ["promote", "a", "b", "--cell", "neurn/ecs"], "did you mean neuron/ecs", id="cell"
        ),
        pytest.param(["rollback", "Stable", "--cell", "neuron/ecs"], "is not a name", id="channel"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    trainshed: Command, aws: Any, words: list[str], message: str
) -> None:
    answer = trainshed("ami", *words)

    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err and answer.err.count("\n") == 1


def test_a_file_that_is_no_manifest_is_refused(
    trainshed: Command, aws: Any, tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text('{"builds": []}')

    answer = trainshed("ami", "publish", str(tmp_path / "manifest.json"))

    assert answer.code == 2
    assert "is not a Packer manifest" in answer.err


def test_promote_takes_every_cell_along(trainshed: Command, account: Any) -> None:
    images = {cell: account.bake(cell=cell) for cell in ("neuron/ecs", "nvidia/eks-1.35")}
    for image in images.values():
        trainshed("ami", "publish", image)

    answer = trainshed(
        "ami", "promote", "candidate", "stable", "--cell", "neuron/ecs", "--cell", "nvidia/eks-1.35"
    )

    assert answer.code == 0
    assert {cell: account.channel("stable", cell=cell) for cell in images} == images


def test_promote_of_a_channel_that_is_not_there_writes_nothing(
    trainshed: Command, account: Any
) -> None:
    trainshed("ami", "publish", account.bake())
    before = account.channel("stable")

    answer = trainshed(
        "ami", "promote", "candidate", "stable", "--cell", "neuron/ecs", "--cell", "nvidia/eks-1.35"
    )

    assert answer.code == 1
    assert "nvidia/eks-1.35 candidate does not exist in us-west-2" in answer.err
    assert account.channel("stable") == before


def test_promote_to_what_is_no_name_writes_nothing(trainshed: Command, account: Any) -> None:
    trainshed("ami", "publish", account.bake())

    answer = trainshed("ami", "promote", "candidate", "Stable", "--cell", "neuron/ecs")

    assert (answer.code, answer.out) == (2, "")
    assert "'Stable' is not a name" in answer.err
    assert "repeat the command" not in answer.err


def test_promote_refuses_an_image_of_another_cell(trainshed: Command, account: Any) -> None:
    image = account.bake(cell="nvidia/eks-1.35")
    account.aws.client("ssm").put_parameter(
        Name=PARAMETER, Value=image, Type="String", DataType="aws:ec2:image", Overwrite=True
    )
    before = account.channel("stable", cell="nvidia/eks-1.35")

    answer = trainshed("ami", "promote", "candidate", "stable", "--cell", "neuron/ecs")

    assert answer.code == 1
    assert f"neuron/ecs candidate in us-west-2 is {image}, an AMI of nvidia/eks-1.35" in answer.err
    assert account.channel("stable", cell="nvidia/eks-1.35") == before


def test_promote_refuses_regions_that_are_at_different_builds(
    trainshed: Command, account: Any
) -> None:
    trainshed("ami", "publish", account.bake())
    trainshed("ami", "publish", account.bake("20261102T120000Z", region=EAST), "--region", EAST)

    answer = trainshed(
        "ami", "promote", "candidate", "stable",
        "--cell", "neuron/ecs", "--region", WEST, "--region", EAST,
    )  # fmt: skip

    assert answer.code == 1
    assert "20261101T120000Z" in answer.err and "20261102T120000Z" in answer.err


@pytest.fixture
def published(trainshed: Command, account: Any) -> list[str]:
    """Four AMIs, published to candidate one after the other."""
    images = [account.bake(f"2026110{day}T120000Z") for day in range(1, 5)]
    for image in images:
        assert trainshed("ami", "publish", image).code == 0
    return images


def roll_back(trainshed: Command) -> Any:
    return trainshed("ami", "rollback", "candidate", "--cell", "neuron/ecs")


def test_rolling_back_again_goes_further_back(
    trainshed: Command, account: Any, published: list[str]
) -> None:
    seen = []
    for _ in range(3):
        roll_back(trainshed)
        seen.append(account.channel("candidate"))

    assert seen == [published[2], published[1], published[0]]


def test_rolling_back_the_oldest_fails_and_changes_nothing(
    trainshed: Command, account: Any
) -> None:
    image = account.bake()
    trainshed("ami", "publish", image)

    answer = roll_back(trainshed)

    assert answer.code == 1
    assert f"nothing to go back to from {image}" in answer.err
    assert account.channel("candidate") == image


def test_rollback_skips_an_image_that_is_gone(
    trainshed: Command, account: Any, published: list[str]
) -> None:
    account.aws.client("ec2").deregister_image(ImageId=published[2])

    answer = roll_back(trainshed)

    assert account.channel("candidate") == published[1]
    assert f"skipped because {published[2]} no longer exists" in answer.err


def test_what_is_published_after_a_rollback_rolls_back_to_where_that_went(
    trainshed: Command, account: Any, published: list[str]
) -> None:
    roll_back(trainshed)
    trainshed("ami", "publish", account.bake("20261105T120000Z"))

    roll_back(trainshed)
    first = account.channel("candidate")
    roll_back(trainshed)

    assert first == published[2]
    assert account.channel("candidate") == published[1]


def test_rollback_survives_a_history_that_begins_late(trainshed: Command, account: Any) -> None:
    ssm = account.aws.client("ssm")
    old, new = account.bake(), account.bake("20261102T120000Z")
    # SSM forgets the oldest of more than 100 versions.
    for number in range(104):
        ssm.put_parameter(
            Name=PARAMETER,
            Value=old if number < 103 else new,
            Type="String",
            DataType="aws:ec2:image",
            Overwrite=True,
        )

    answer = roll_back(trainshed)

    assert answer.code == 0
    assert account.channel("candidate") == old
