"""A node tells AWS how its boot went: by a tag of its own, and a metric if it failed."""

import json
from pathlib import Path

import pytest
from cluster_node import ACCELERATORS, EFA, INSTANCE, ClusterNode
from node_root import needs_namespaces

pytestmark = needs_namespaces

# As the AWS CLI answers; version 2 ends with 254 when a service refuses.
DENIED = (
    "An error occurred (UnauthorizedOperation) when calling the CreateTags operation: "
    "You are not authorized to perform this operation."
)


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    return ClusterNode.healthy(tmp_path)


def test_the_tag_has_only_what_all_services_take_and_no_more_than_ec2_does(
    machine: ClusterNode,
) -> None:
    machine.unplug(EFA, 0)
    machine.tool(ACCELERATORS["neuron"].tool, "x" * 300 + "; [none]", code=1)

    tag = machine.boot().tag

    assert tag is not None
    assert tag.startswith(f"failed: {INSTANCE}: takes no job: neuron devices do not answer /opt/")
    assert len(tag) == 256
    assert not set(tag) & set("();,[]'")


def test_calls_name_the_instance_and_the_region_and_have_a_time_limit(machine: ClusterNode) -> None:
    machine.unplug(EFA, 0)

    tags, metric = machine.boot().calls

    assert tags[:2] == ["ec2", "create-tags"]
    assert tags[tags.index("--resources") + 1] == INSTANCE
    assert metric[:2] == ["cloudwatch", "put-metric-data"]
    assert metric[metric.index("--namespace") + 1] == "trainshed"
    for call in (tags, metric):
        assert call[call.index("--region") + 1] == "us-west-2"
        assert {"--cli-connect-timeout", "--cli-read-timeout"} <= set(call)


def test_a_file_system_that_never_comes_is_signalled_too(machine: ClusterNode) -> None:
    names = {"dns_name_parameter": "/dns", "mount_name_parameter": "/name"}
    lustre = {"mount": "/fsx", "wait_seconds": 0, **names}
    document = {"region": "us-west-2", "cluster": "Train", "lustre": lustre}
    machine.write("etc/trainshed/first-boot.json", json.dumps(document))
    machine.command("mount.lustre", "")

    boot = machine.boot()

    assert boot.code == 1
    assert boot.tag is not None
    assert boot.tag.startswith("failed: /fsx: not mounted after 0 s: SSM gave no answer")
    assert len(boot.metrics) == 1


@pytest.mark.parametrize(
    ("aws", "reason"),
    [
        pytest.param(f"echo '{DENIED}' >&2; exit 254", DENIED, id="denied"),
        pytest.param("sleep 600", "aws took longer than 0 s", id="no-answer"),
        pytest.param(None, "there is no command aws", id="no-cli"),
    ],
)
def test_a_signal_that_cannot_be_sent_neither_hides_the_reason_nor_holds_the_boot(
    machine: ClusterNode, aws: str | None, reason: str
) -> None:
    machine.hasten("boot_signal", "_CALL_SECONDS", 0.3)
    path = "PATH=/usr/local/bin:/usr/sbin:/usr/bin"
    if aws is None:
        Path(f"{machine.path}.local", "bin/aws").unlink()
        # This machine may have one.
        path = "PATH=/usr/local/bin:/sbin"
        machine.command("udevadm", "")
    else:
        machine.command("aws", aws)
    machine.unplug(EFA, 0)

    boot = machine.boot(f"{path} /opt/trainshed/first-boot")

    assert boot.code == 1
    assert boot.error.startswith(f"trainshed: ERROR: {INSTANCE}: takes no job: 7 of 8 efa devices")
    for operation in ("ec2 create-tags", "cloudwatch put-metric-data"):
        warning = f"trainshed: WARNING: {operation} of the boot's signal failed ({reason})"
        assert warning in boot.lines


def test_the_reason_is_reported_before_anything_that_may_take_time(machine: ClusterNode) -> None:
    machine.command("aws", "exit 1")
    machine.unplug(EFA, 0)

    first, *_, last = machine.shell("/opt/trainshed/first-boot 2>&1").stdout.splitlines()

    assert first.startswith("trainshed: ERROR: ")
    assert last.startswith("trainshed: WARNING: cloudwatch ")


def test_a_success_that_cannot_be_signalled_is_a_success(machine: ClusterNode) -> None:
    machine.command("aws", f"echo '{DENIED}' >&2; exit 254")

    boot = machine.boot()

    assert boot.code == 0
    assert "WARNING: ec2 create-tags" in boot.lines[-1]


def test_an_instance_of_no_cluster_is_not_signalled(machine: ClusterNode) -> None:
    machine.write("etc/trainshed/first-boot.json", json.dumps({"devices": {"efa": 9}}))

    boot = machine.boot()

    assert boot.code == 1
    assert boot.calls == []


def test_a_stack_that_waits_for_the_node_is_signalled_when_it_booted_well(
    machine: ClusterNode,
) -> None:
    document = {
        "region": "us-west-2",
        "cluster": "Train",
        "signals": {"stack": "Train", "resource": "Nodes"},
    }
    machine.write("etc/trainshed/first-boot.json", json.dumps(document))

    _, signal = machine.boot().calls

    assert signal[:2] == ["cloudformation", "signal-resource"]
    given = dict(zip(signal[2::2], signal[3::2], strict=True))
    assert given["--stack-name"] == "Train"
    assert given["--logical-resource-id"] == "Nodes"
    assert given["--unique-id"] == INSTANCE
    assert given["--status"] == "SUCCESS"


def test_a_stack_that_waits_is_not_signalled_by_a_node_that_is_replaced(
    machine: ClusterNode,
) -> None:
    settings = json.loads((machine.path / "etc/trainshed/first-boot.json").read_text())
    settings["signals"] = {"stack": "Train", "resource": "Nodes"}
    machine.write("etc/trainshed/first-boot.json", json.dumps(settings))
    machine.unplug(EFA, 0)

    assert {call[0] for call in machine.boot().calls} == {"ec2", "cloudwatch"}


@pytest.mark.parametrize(
    ("refusal", "signals"),
    [
        ("Could not connect to the endpoint URL", 3),
        ("An error occurred (Throttling) when calling the SignalResource operation", 3),
        # Of a stack that is there.
        ("An error occurred (ValidationError) when calling the SignalResource operation", 1),
    ],
)
def test_a_signal_that_is_lost_is_sent_again(
    machine: ClusterNode, refusal: str, signals: int
) -> None:
    settings = json.loads((machine.path / "etc/trainshed/first-boot.json").read_text())
    settings["signals"] = {"stack": "Train", "resource": "Nodes"}
    machine.write("etc/trainshed/first-boot.json", json.dumps(settings))
    machine.hasten("boot_signal", "_PAUSE_SECONDS", 0.01)
    refuse = f"if [ $(grep -c signal /run/calls) -lt 3 ]; then echo '{refusal}' >&2; exit 254; fi"
    machine.command(
        "aws",
        'printf "%s\\037" "$@" >>/run/calls; echo >>/run/calls; '
        f'[ "$1" != cloudformation ] || {{ {refuse}; }}',
    )

    boot = machine.boot()

    assert boot.code == 0
    assert len([call for call in boot.calls if call[0] == "cloudformation"]) == signals
