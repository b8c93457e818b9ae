"""The function that finds an AMI once, and checks it."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from trainshed.plan.ami import AMI_ID

NAME = "/trainshed/ami/neuron/ecs/stable"
REGION, REMEDY = "us-west-2", "name another"
OLD, NEW = "ami-0123456789abcdef0", "ami-0fedcba9876543210"

# Status, physical id, data and reason of an answer.
Answer = tuple[str, str, Mapping[str, str], str | None]
Ask = Callable[..., Answer]
LoadHandler = Callable[[str], tuple[Any, list[Any]]]


class ParameterNotFound(ClientError):  # type: ignore[misc]  # botocore has no types
    pass


class ParameterVersionNotFound(ClientError):  # type: ignore[misc]  # as above
    pass


class Ssm:
    """Holds versions of one parameter; refuses so often first, as a new role is."""

    def __init__(self, *values: str, denials: int = 0) -> None:
        self.values = list(values)
        self.denials = denials
        self.meta = SimpleNamespace(region_name=REGION)
        self.exceptions = SimpleNamespace(
            ParameterNotFound=ParameterNotFound, ParameterVersionNotFound=ParameterVersionNotFound
        )

    def get_parameter(self, *, Name: str) -> dict[str, Any]:
        if self.denials:
            self.denials -= 1
            denied = {"Code": "AccessDeniedException", "Message": "not authorized"}
            raise ClientError({"Error": denied}, "GetParameter")
        name, _, version = Name.partition(":")
        if name != NAME:
            raise ParameterNotFound({"Error": {"Code": "ParameterNotFound"}}, "GetParameter")
        number = int(version or len(self.values))
        if number > len(self.values):
            given_reason = {"Error": {"Code": "ParameterVersionNotFound"}}
            raise ParameterVersionNotFound(given_reason, "GetParameter")
        return {"Parameter": {"Value": self.values[number - 1], "Version": number}}


class Ec2:
    """Has AMIs with their states and tags; refuses so often first, as a new role is."""

    def __init__(self, states: Mapping[str, str] | None = None, *, denials: int = 0) -> None:
        self.states = {OLD: "available", NEW: "available", **(states or {})}
        self.tags: dict[str, str] = {}
        self.root_device = "/dev/xvda"
        self.denials = denials
        self.meta = SimpleNamespace(region_name=REGION)

    def describe_images(self, *, ImageIds: list[str], **including: bool) -> dict[str, Any]:
        if self.denials:
            self.denials -= 1
            denied = {"Code": "UnauthorizedOperation", "Message": "not authorized"}
            raise ClientError({"Error": denied}, "DescribeImages")
        # Both are left out by default, and an AMI of another owner may be deprecated and work.
        assert including == {"IncludeDeprecated": True, "IncludeDisabled": True}
        state = self.states.get(ImageIds[0], "unknown")
        if state == "unknown":
            raise ClientError({"Error": {"Code": "InvalidAMIID.NotFound"}}, "DescribeImages")
        if state == "deregistered a moment ago":
            return {"Images": []}
        tags = [{"Key": key, "Value": value} for key, value in self.tags.items()]
        image = {"ImageId": ImageIds[0], "State": state, "RootDeviceName": self.root_device}
        return {"Images": [{**image, "Tags": tags}]}


def baked(accelerator: str, orchestrator: str) -> dict[str, str]:
    """The tags of a build that are looked at."""
    return {
        "trainshed:build": "20261101T120000Z",
        "trainshed:accelerator": accelerator,
        "trainshed:orchestrator": orchestrator,
    }


@pytest.fixture
def pauses() -> list[int]:
    """How long the function waited, in seconds."""
    return []


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, pauses: list[int], load_handler: LoadHandler) -> Ask:
    """Sends an event to the handler."""
    handler, answers = load_handler("pinned_ami")
    monkeypatch.setattr("time.sleep", pauses.append)

    def ask(
        kind: str,
        ssm: Ssm,
        asked: str = NAME,
        *,
        ec2: Ec2 | None = None,
        cell: str = "neuron/ecs",
        root_device: str = "/dev/xvda",
        **more: Any,
    ) -> Answer:
        clients = {"ssm": ssm, "ec2": ec2 or Ec2()}
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=clients.__getitem__))
        properties = {"Ami": asked, "Cell": cell, "RootDevice": root_device, "Remedy": REMEDY}
        event = {
            "RequestType": kind,
            "LogicalResourceId": "Ami",
            "ResourceProperties": properties,
            **more,
        }
        handler.handler(event, None)
        answer = answers.pop()
        return answer.status, answer.physical_id, answer.data, answer.reason

    return ask


def test_ami_ids_are_those_of_a_cluster_file(load_handler: LoadHandler) -> None:
    handler, _ = load_handler("pinned_ami")

    # A function of Lambda cannot import it.
    assert handler._AMI_ID.pattern == AMI_ID.pattern


def test_a_creation_reads_the_newest_version(ask: Ask) -> None:
    status, physical_id, data, _ = ask("Create", Ssm(OLD, NEW))

    assert status == "SUCCESS"
    assert physical_id == f"{NAME}:2={NEW}"
    assert data == {"ImageId": NEW, "Version": "2"}


def test_a_creation_reads_the_version_asked_for(ask: Ask) -> None:
    _, _, data, _ = ask("Create", Ssm(OLD, NEW), f"{NAME}:1")

    assert data == {"ImageId": OLD, "Version": "1"}


def test_an_update_for_another_reason_keeps_what_was_read(ask: Ask) -> None:
    pinned = f"{NAME}:1={OLD}"
    before = {"Ami": NAME, "Remedy": "bake one"}

    status, physical_id, data, _ = ask(
        "Update", Ssm(OLD, NEW), PhysicalResourceId=pinned, OldResourceProperties=before
    )

    assert (status, physical_id) == ("SUCCESS", pinned)
    assert data == {"ImageId": OLD, "Version": "1"}


def test_an_update_to_another_version_reads_it(ask: Ask) -> None:
    _, _, data, _ = ask(
        "Update",
        Ssm(OLD, NEW),
        f"{NAME}:2",
        PhysicalResourceId=f"{NAME}:1={OLD}",
        OldResourceProperties={"Ami": NAME},
    )

    assert data == {"ImageId": NEW, "Version": "2"}


@pytest.mark.parametrize(
    ("ssm", "asked", "reason"),
    [
        (
            Ssm(OLD),
            "/ours/ami",
            "there is no SSM parameter /ours/ami in us-west-2",
        ),
        (
            Ssm(OLD),
            f"{NAME}:2",
            f"SSM parameter {NAME} has no version 2 in us-west-2: it is yet to come, or older "
            "than the 100 that SSM keeps",
        ),
        (Ssm("none yet"), NAME, f"SSM parameter {NAME} holds 'none yet', which is not an AMI id"),
        (
            Ssm("ami-123"),
            f"{NAME}:1",
            f"SSM parameter {NAME}:1 holds 'ami-123', which is not an AMI id",
        ),
    ],
    ids=["no parameter", "no version", "no AMI id", "a bad AMI id"],
)
def test_what_is_wrong_is_reported(ask: Ask, ssm: Ssm, asked: str, reason: str) -> None:
    status, _, data, given_reason = ask("Create", ssm, asked)

    assert (status, data) == ("FAILED", {})
    assert given_reason == f"\n{reason}; {REMEDY}\n"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        pytest.param(NAME, f"{OLD} (SSM parameter {NAME})", id="channel"),
        pytest.param(f"{NAME}:1", f"{OLD} (SSM parameter {NAME}:1)", id="version"),
        pytest.param(OLD, OLD, id="literal"),
    ],
)
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("unknown", "this account sees no AMI {} in us-west-2"),
        ("deregistered a moment ago", "this account sees no AMI {} in us-west-2"),
        ("pending", "AMI {} in us-west-2 is pending, not available"),
        ("disabled", "AMI {} in us-west-2 is disabled, not available"),
    ],
)
def test_an_ami_that_cannot_be_launched_is_refused(
    ask: Ask, asked: str, named: str, state: str, reason: str
) -> None:
    status, _, data, given_reason = ask("Create", Ssm(OLD), asked, ec2=Ec2({OLD: state}))

    assert (status, data) == ("FAILED", {})
    assert given_reason == f"\n{reason.format(named)}; {REMEDY}\n"


@pytest.mark.parametrize(
    ("tags", "cell", "status"),
    [
        pytest.param(baked("neuron", "ecs"), "neuron/ecs", "SUCCESS", id="its-own"),
        pytest.param(baked("nvidia", "ecs"), "neuron/ecs", "FAILED", id="other-accelerator"),
        pytest.param(baked("neuron", "eks"), "neuron/ecs", "FAILED", id="other-orchestrator"),
        pytest.param({"trainshed:build": "x"}, "neuron/ecs", "FAILED", id="build-of-unknown-cell"),
        pytest.param({}, "neuron/ecs", "SUCCESS", id="not-ours"),
        pytest.param(baked("nvidia", "ecs"), "", "SUCCESS", id="any-cell"),
    ],
)
def test_a_build_of_ours_must_be_of_the_cell(
    ask: Ask, tags: dict[str, str], cell: str, status: str
) -> None:
    ec2 = Ec2()
    ec2.tags = tags

    assert ask("Create", Ssm(OLD), ec2=ec2, cell=cell)[0] == status


@pytest.mark.parametrize("asked", [NAME, OLD], ids=["channel", "literal"])
def test_an_ami_whose_root_volume_is_another_device_is_refused(ask: Ask, asked: str) -> None:
    ec2 = Ec2()
    ec2.root_device = "/dev/sda1"

    status, _, data, given_reason = ask("Create", Ssm(OLD), asked, ec2=ec2)

    assert (status, data) == ("FAILED", {})
    assert given_reason is not None
    objection = " has root device /dev/sda1, and the nodes need /dev/xvda"
    assert given_reason.endswith(f"{objection}; {REMEDY}\n")
    assert ask("Create", Ssm(OLD), asked, ec2=ec2, root_device="/dev/sda1")[0] == "SUCCESS"
    assert ask("Create", Ssm(OLD), asked, ec2=ec2, root_device="")[0] == "SUCCESS"


def test_the_message_names_both_cells(ask: Ask) -> None:
    ec2 = Ec2()
    ec2.tags = baked("nvidia", "eks")

    *_, given_reason = ask("Create", Ssm(OLD), ec2=ec2)

    ami = f"AMI {OLD} (SSM parameter {NAME})"
    assert given_reason == f"\n{ami} is of nvidia/eks, and the nodes need neuron/ecs; {REMEDY}\n"


def test_an_ami_id_is_its_own_answer(ask: Ask) -> None:
    status, physical_id, data, _ = ask("Create", Ssm(), OLD)

    assert (status, physical_id) == ("SUCCESS", OLD)
    assert data == {"ImageId": OLD, "Version": ""}


def test_an_ami_that_was_found_once_is_not_looked_for_again(ask: Ask) -> None:
    pinned = f"{NAME}:1={OLD}"

    status, physical_id, *_ = ask(
        "Update",
        Ssm(),
        ec2=Ec2({OLD: "unknown"}),
        PhysicalResourceId=pinned,
        OldResourceProperties={"Ami": NAME},
    )

    assert (status, physical_id) == ("SUCCESS", pinned)


def test_a_right_to_see_amis_that_does_not_count_yet_is_waited_for(
    ask: Ask, pauses: list[int]
) -> None:
    status, *_ = ask("Create", Ssm(OLD), ec2=Ec2(denials=2))

    assert status == "SUCCESS"
    assert pauses == [2, 4]


def test_a_right_that_does_not_count_yet_is_waited_for(ask: Ask, pauses: list[int]) -> None:
    status, *_ = ask("Create", Ssm(OLD, denials=2))

    assert status == "SUCCESS"
    assert pauses == [2, 4]


def test_a_right_that_never_counts_is_reported_in_time(ask: Ask, pauses: list[int]) -> None:
    status, _, _, reason = ask("Create", Ssm(OLD, denials=99))

    assert status == "FAILED"
    # It is not the AMI that is missing: no word of baking one.
    assert reason and "AccessDeniedException" in reason and REMEDY not in reason
    # Twice, for SSM and for EC2, is in time for the function's 50 seconds.
    assert sum(pauses) < 20


def test_a_deletion_asks_nothing(ask: Ask) -> None:
    status, physical_id, *_ = ask("Delete", Ssm(), PhysicalResourceId=f"{NAME}:1={OLD}")

    assert (status, physical_id) == ("SUCCESS", f"{NAME}:1={OLD}")
