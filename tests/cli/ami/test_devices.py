"""`trainshed ami test` on a type with accelerators: every device of the type has to be there."""

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from embedded_aws.faults import Fault
from trainshed.ami.ami import Ami
from trainshed.ami.trial import TrialPlace, try_ami
from trainshed.aws import Region
from trainshed.catalogue import all_types, lookup
from trainshed.errors import Failure
from trainshed.interfaces import InterfaceProfile, plan_interfaces

Command = Callable[..., Any]
TYPES = [name for name in all_types() if lookup(name).accelerator.family != "qualcomm"]


@dataclass(slots=True, kw_only=True)
class Ec2(Region):
    """A region with one instance, whose console shows a self-test.

    Attributes:
        result: the self-test.
        launched: parameters of RunInstances.
    """

    result: dict[str, Any]
    name: str = "us-west-2"
    launched: dict[str, Any] = field(default_factory=dict)

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        match operation:
            case "run_instances":
                self.launched = params
                return {"Instances": [{"InstanceId": "i-1"}]}
            case "describe_instances":
                return {"Reservations": [{"Instances": [{"State": {"Name": "running"}}]}]}
            case "get_console_output":
                text = base64.b64encode(zlib.compress(json.dumps(self.result).encode())).decode()
                checksum = zlib.crc32(text.encode())
                return {"Output": f"trainshed-selftest 1/1 {checksum:08x} {text}\n"}
            case _:
                return {}

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        if operation == "describe_subnets":
            for zone in "ab":
                yield {"SubnetId": f"subnet-{zone}", "AvailabilityZone": f"us-west-2{zone}"}
        else:
            yield {"Location": "us-west-2b"}


def image_for(accelerator: str) -> Ami:
    return Ami(
        image_id="ami-1",
        region="us-west-2",
        name="trainshed",
        state="available",
        reason="",
        created=datetime(2026, 11, 1, tzinfo=UTC),
        tags={"trainshed:accelerator": accelerator, "trainshed:orchestrator": "ecs"},
        snapshots=(),
        public=False,
        protected=False,
    )


def selftest(accelerator: str, devices: int, efa: int) -> dict[str, Any]:
    """What an image says that found so many devices; none is unchecked."""
    found = {"efa device": efa, f"{accelerator} device": devices, "kernel": 0}
    components = [
        {
            "name": name,
            "version": str(count or ""),
            "expected": str(count or ""),
            "state": "ok" if count or name == "kernel" else "unchecked",
            "detail": "",
        }
        for name, count in found.items()
    ]
    return {"ami": {}, "components": components, "ok": True}


def try_on(name: str, ec2: Ec2, *, accelerator: str = "") -> dict[str, Any]:
    place = TrialPlace(instance_type=name, subnet_id=None, minutes=1)
    image = image_for(accelerator or lookup(name).accelerator.family.value)
    return try_ami(ec2, image, place, show=lambda _: None)


def efa_of(name: str) -> int:
    instance = lookup(name)
    if not instance.efa_interfaces_max:
        return 0
    return sum(row.kind.has_efa for row in plan_interfaces(instance, InterfaceProfile.EC2))


@pytest.mark.parametrize("name", TYPES)
def test_all_devices_of_the_type_are_asked_for_and_required(name: str) -> None:
    accelerator = lookup(name).accelerator
    family, count, efa = accelerator.family.value, accelerator.count, efa_of(name)
    whole = Ec2(result=selftest(family, count, efa))

    result = try_on(name, whole)

    assert result["ok"]
    interfaces = whole.launched.get("NetworkInterfaces", [])
    assert sum(row["InterfaceType"] != "interface" for row in interfaces) == efa
    # In one subnet, of a zone that has the type.
    assert {row["SubnetId"] for row in interfaces} <= {"subnet-b"}
    for devices, cards in ((count - 1, efa), (0, efa), *([(count, efa - 1)] if efa else [])):
        result = try_on(name, Ec2(result=selftest(family, devices, cards)))
        assert not result["ok"], (devices, cards)
        (failed,) = [each for each in result["components"] if each["state"] == "failed"]
        assert failed["detail"].startswith(f"{name} has ")


def test_an_ami_whose_self_test_counts_no_devices_is_not_well() -> None:
    result = try_on("trn1.32xlarge", Ec2(result={"ami": {}, "components": [], "ok": True}))

    assert not result["ok"]
    assert [(each["name"], each["detail"]) for each in result["components"]] == [
        ("efa device", "trn1.32xlarge has 8, and the AMI found none"),
        ("neuron device", "trn1.32xlarge has 16, and the AMI found none"),
    ]


def test_an_image_is_not_tried_on_a_type_of_another_accelerator() -> None:
    ec2 = Ec2(result=selftest("neuron", 16, 8))

    with pytest.raises(Failure, match=r"ami-1 is for neuron, and p4d\.24xlarge has 8 x A100"):
        try_on("p4d.24xlarge", ec2, accelerator="neuron")
    assert ec2.launched == {}


def test_a_type_without_accelerators_has_nothing_to_show() -> None:
    ec2 = Ec2(result=selftest("neuron", 0, 0))

    assert try_on("m6i.xlarge", ec2, accelerator="neuron")["ok"]
    assert "NetworkInterfaces" not in ec2.launched


def test_the_interfaces_reach_ec2(trainshed: Command, account: Any) -> None:
    image = account.bake()
    account.aws.fail(
        Fault(service="ec2", operation="GetConsoleOutput", code="InvalidParameterValue")
    )

    # The type is not offered in the first one's zone.
    subnet = account.subnets["us-west-2"][1]
    trainshed("ami", "test", image, "--instance-type", "trn1.32xlarge", "--subnet", subnet)

    (instance,) = account.instances()
    ec2 = account.aws.client("ec2")
    result = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    assert result["State"]["Name"] == "terminated"
    assert result["InstanceType"] == "trn1.32xlarge"
    assert result["SubnetId"] == subnet
