"""Instances without guests that boot, because a plug-in knows their AMI."""

import base64
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from command_bench import CommandBench, until
from job_bench import job_aws
from plugin_package import write_plugin
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings

PLUGIN = """
from embedded_aws.plugins import Plugin

class Bootable(Plugin):
    def boot_commands(self):
        return {
            "bootable-.+": ["sh", "-c", '. "$EMBEDDED_AWS_USER_DATA"'],
            "broken-.+": ["/no/such/program"],
        }

PLUGIN = Bootable()
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plug-in whose instances boot by running their user data."""
    folder = tmp_path_factory.mktemp("plugin")
    write_plugin(folder, "bootable", PLUGIN)
    return folder


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="loopback"),
        pytest.param(
            False,
            marks=needs(networks=True),
            id="apart",
        ),
    ],
)
def aws(
    request: pytest.FixtureRequest, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(plugin), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        settings = JobSettings(loopback=request.param)
        with job_aws(tmp_path_factory.mktemp("boots"), settings) as started:
            yield started


@pytest.fixture
def bench(aws: EmbeddedAws) -> CommandBench:
    return CommandBench(aws)


def launch(bench: CommandBench, script: str, ami: str = "bootable", **more: Any) -> str:
    """Launch an instance whose user data is a script; return its id."""
    image = bench.ec2.register_image(Name=f"{ami}-{bench.name}-{len(script)}")["ImageId"]
    [instance] = bench.launch(ImageId=image, UserData=script, **more)
    return instance


def console(bench: CommandBench, instance: str) -> str:
    output = bench.ec2.get_console_output(InstanceId=instance).get("Output", "")
    # botocore decodes it.
    return str(output)


def lines(bench: CommandBench, instance: str, *expected: str) -> list[str]:
    """Return the lines of the console once these are there."""
    return list(
        until(
            lambda: (
                found
                if set(expected) <= set(found := console(bench, instance).splitlines())
                else None
            ),
            f"a console with {expected}",
        )
    )


def state(bench: CommandBench, instance: str) -> Any:
    [found] = bench.ec2.describe_instances(InstanceIds=[instance])["Reservations"]
    return found["Instances"][0]


def sleeping(seconds: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["sleep", seconds]
    ]


def test_a_boot_knows_its_instance_and_has_the_credentials_of_its_role(bench: CommandBench) -> None:
    caller = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"

    instance = launch(
        bench, f'echo $EMBEDDED_AWS_INSTANCE_ID $AWS_REGION; python -c "{caller}"; echo err >&2'
    )

    arn = f"arn:aws:sts::123456789012:assumed-role/{bench.managed}/{instance}"
    found = lines(bench, instance, "err")
    assert found == [f"{instance} us-west-2", arn, "err"]
    assert state(bench, instance)["State"]["Name"] == "running"


def test_user_data_is_as_it_was_given(bench: CommandBench) -> None:
    script = "echo $(sha256sum < $EMBEDDED_AWS_USER_DATA); echo done\n# \u00e4"

    instance = launch(bench, script)

    digest = hashlib.sha256(script.encode()).hexdigest()
    assert lines(bench, instance, "done")[0].startswith(digest)
    kept = bench.ec2.describe_instance_attribute(InstanceId=instance, Attribute="userData")
    assert base64.b64decode(kept["UserData"]["Value"]).decode() == script


def test_commands_find_what_the_boot_left(bench: CommandBench) -> None:
    instance = launch(bench, "echo ready > left; echo booted")
    lines(bench, instance, "booted")

    found = bench.wait(bench.send("cat left", [instance]), instance)

    assert found["StandardOutputContent"] == "ready\n"


@pytest.mark.parametrize(("behaviour", "then"), [("terminate", "terminated"), ("stop", "stopped")])
def test_a_boot_that_fails_shuts_the_instance_down(
    bench: CommandBench, behaviour: str, then: str
) -> None:
    instance = launch(bench, "echo no devices; exit 3", InstanceInitiatedShutdownBehavior=behaviour)

    until(lambda: state(bench, instance)["State"]["Name"] == then, f"an instance that is {then}")
    reason = state(bench, instance)["StateReason"]
    assert reason["Code"] == "Client.InstanceInitiatedShutdown"
    assert lines(bench, instance, "no devices")


def test_a_boot_command_that_is_not_there_is_on_the_console(bench: CommandBench) -> None:
    instance = launch(bench, "", ami="broken")

    expected = "embedded AWS: /no/such/program: No such file or directory"
    assert lines(bench, instance, expected)
    until(lambda: state(bench, instance)["State"]["Name"] == "stopped", "a stopped instance")


def test_a_boot_ends_with_its_instance_and_begins_again_with_it(bench: CommandBench) -> None:
    seconds = f"5{abs(hash(bench.name)) % 10**8}"
    instance = launch(bench, f"echo boot >> boots; cat boots; exec sleep {seconds}")
    until(lambda: sleeping(seconds), "a process")
    [first] = sleeping(seconds)

    bench.ec2.reboot_instances(InstanceIds=[instance])
    until(lambda: sleeping(seconds) not in ([], [first]), "another process")
    bench.ec2.stop_instances(InstanceIds=[instance])

    assert sleeping(seconds) == []
    bench.ec2.start_instances(InstanceIds=[instance])
    until(lambda: sleeping(seconds), "a process")
    assert lines(bench, instance, "boot") == ["boot"] * 3
    bench.ec2.terminate_instances(InstanceIds=[instance])
    assert sleeping(seconds) == []
    assert console(bench, instance).splitlines() == ["boot"] * 3


def test_instances_of_other_amis_only_run(bench: CommandBench) -> None:
    instance = launch(bench, "echo no", ami="other")

    assert state(bench, instance)["State"]["Name"] == "running"
    assert "no" not in console(bench, instance).splitlines()


def test_nothing_is_left_of_a_boot_after_a_reset(bench: CommandBench) -> None:
    seconds = f"5{abs(hash(bench.name)) % 10**8}"
    launch(bench, f"exec sleep {seconds}")
    processes = until(lambda: sleeping(seconds), "a process")

    bench.aws.reset()

    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


def test_an_instance_reaches_the_services_that_its_subnet_leads_to(bench: CommandBench) -> None:
    vpc = bench.ec2.create_vpc(CidrBlock="10.30.0.0/16")["Vpc"]["VpcId"]
    made = bench.ec2.create_subnet(VpcId=vpc, CidrBlock="10.30.0.0/20")["Subnet"]
    bench.ec2.create_vpc_endpoint(
        VpcId=vpc,
        VpcEndpointType="Interface",
        ServiceName="com.amazonaws.us-west-2.monitoring",
        PrivateDnsEnabled=True,
    )
    script = "echo all $AWS_ENDPOINT_URL; echo metrics $AWS_ENDPOINT_URL_CLOUDWATCH"

    closed = launch(bench, script, SubnetId=made["SubnetId"])
    by_nat = launch(bench, script)

    endpoint = bench.aws.endpoint
    lines(bench, closed, "all http://127.0.0.1:9", f"metrics {endpoint}")
    lines(bench, by_nat, f"all {endpoint}", "metrics")
    managed = bench.ssm.describe_instance_information()["InstanceInformationList"]
    ids = {each["InstanceId"] for each in managed}
    assert (closed in ids, by_nat in ids) == (False, True)
