"""Commands that run on instances, and what becomes of them."""

import json
from functools import partial
from typing import Any

import psutil
import pytest
from botocore.exceptions import ClientError
from command_bench import CommandBench, until

WAIT = "echo running; exec sleep 100"


def test_a_script_runs_on_its_instance(either: CommandBench) -> None:
    found = either.run("echo out\necho err >&2\necho $AWS_SSM_INSTANCE_ID")

    assert (found["Status"], found["StatusDetails"], found["ResponseCode"]) == (
        *("Success", "Success"),
        0,
    )
    assert found["StandardOutputContent"] == f"out\n{found['InstanceId']}\n"
    assert found["StandardErrorContent"] == "err\n"
    assert found["PluginName"] == "aws:runShellScript"
    assert found["ExecutionStartDateTime"] <= found["ExecutionEndDateTime"]
    command = either.command(found["CommandId"])
    assert (command["Status"], command["TargetCount"], command["CompletedCount"]) == (
        "Success",
        *(1, 1),
    )


def test_a_script_that_fails_says_with_which_code(bench: CommandBench) -> None:
    found = bench.run("echo no >&2\nexit 7")

    assert (found["Status"], found["ResponseCode"]) == ("Failed", 7)
    assert found["StandardErrorContent"] == "no\nfailed to run commands: exit status 7"
    assert bench.command(found["CommandId"])["StatusDetails"] == "Failed"


def test_a_working_directory_that_is_not_there_fails_the_step(bench: CommandBench) -> None:
    found = bench.run("true", Parameters={"commands": ["true"], "workingDirectory": ["/none"]})

    assert (found["Status"], found["ResponseCode"]) == ("Failed", 1)
    assert "/none" in found["StandardErrorContent"]


def test_a_step_that_takes_too_long_is_killed(bench: CommandBench) -> None:
    found = bench.run(WAIT, Parameters={"commands": [WAIT], "executionTimeout": ["60"]})

    assert (found["Status"], found["StatusDetails"]) == ("TimedOut", "ExecutionTimedOut")
    assert found["ResponseCode"] == 137
    assert found["StandardOutputContent"] == "running\n"
    assert bench.command(found["CommandId"])["StatusDetails"] == "ExecutionTimedOut"


def test_cancelling_kills_the_process_group_and_nothing_else(either: CommandBench) -> None:
    [instance] = either.launch()
    own, apart = (f"8{abs(hash(either.name + each)) % 10**8}" for each in ("a", "b"))
    script = f"setsid sleep {apart} >/dev/null 2>&1 &\nsleep {own} &\necho running\nwait"
    command = either.send(script, [instance])
    until(lambda: sleeping(own) and sleeping(apart), "two processes")

    either.ssm.cancel_command(CommandId=command)

    found = either.wait(command, instance)
    assert (found["Status"], found["ResponseCode"]) == ("Cancelled", 137)
    assert either.command(command)["Status"] == "Cancelled"
    until(lambda: not sleeping(own), "an end of the group")
    assert sleeping(apart)
    either.ec2.terminate_instances(InstanceIds=[instance])
    until(lambda: not sleeping(apart), "an end of the rest")


def test_processes_reach_those_of_other_commands_by_addresses_of_instances(
    either: CommandBench,
) -> None:
    server, client = either.launch(2)
    address = either.address(server)
    serve = (
        f"import socket; s = socket.create_server(('{address}', 5000)); "
        "print('ready', flush=True); c, _ = s.accept(); print(c.recv(9).decode())"
    )
    call = (
        "import socket, time\n"
        "while True:\n"
        f"    try: s = socket.create_connection(('{address}', 5000)); break\n"
        "    except OSError: time.sleep(0.05)\n"
        "s.sendall(b'hello')\n"
    )
    waiting = either.send(f'python3 -I -c "{serve}"', [server])

    calling = either.send(f'python3 -I -c "{call}"', [client])

    assert either.wait(calling, client)["Status"] == "Success"
    assert either.wait(waiting, server)["StandardOutputContent"] == "ready\nhello\n"


def test_what_a_command_leaves_runs_on_until_the_instance_ends(either: CommandBench) -> None:
    [instance] = either.launch()
    seconds = f"8{abs(hash(either.name)) % 10**8}"
    command = either.send(f"nohup sleep {seconds} >/dev/null 2>&1 &", [instance])

    assert either.wait(command, instance)["Status"] == "Success"

    assert sleeping(seconds)
    either.ec2.stop_instances(InstanceIds=[instance])
    assert not sleeping(seconds)


def test_an_instance_is_in_a_network_namespace_of_its_own(namespaces: CommandBench) -> None:
    found = namespaces.run("hostname\nhostname -I\nip -brief link | wc -l")

    address = namespaces.address(found["InstanceId"])
    name = f"ip-{address.replace('.', '-')}"
    assert address.startswith("10.20.")
    assert found["StandardOutputContent"].split() == [name, address, "2"]


@pytest.mark.parametrize(
    ("instance_type", "files"),
    [
        ("m5.large", "class/dmi/id/board_asset_tag"),
        ("t2.micro", "class/dmi/id/product_uuid hypervisor/uuid"),
    ],
)
def test_an_instance_shows_what_its_hypervisor_has_of_it(
    either: CommandBench, instance_type: str, files: str
) -> None:
    [instance] = either.launch(InstanceType=instance_type)
    show = "cd $EMBEDDED_AWS_NODE/sys; echo $(find * -type f | sort)\ncat $(find * -type f)"

    found = either.wait(either.send(show, [instance]), instance)

    listed, *texts = found["StandardOutputContent"].splitlines()
    assert listed == files
    for text in texts:
        assert text == instance or text.startswith("ec2")


def test_commands_have_the_credentials_of_the_instances_role(either: CommandBench) -> None:
    call = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"

    found = either.run(f'python -c "{call}"')

    assert found["StandardErrorContent"] == ""
    assert found["StandardOutputContent"] == (
        f"arn:aws:sts::123456789012:assumed-role/{either.managed}/{found['InstanceId']}\n"
    )


def test_output_is_logged_while_the_command_runs(either: CommandBench) -> None:
    [instance] = either.launch()
    group = f"/{either.name}"
    command = either.send(
        "echo out\necho err >&2\nsleep 100",
        [instance],
        CloudWatchOutputConfig={"CloudWatchLogGroupName": group, "CloudWatchOutputEnabled": True},
    )

    for name in ("out", "err"):
        stream = f"{command}/{instance}/aws-runShellScript/std{name}"
        lines = partial(either.lines, group, stream)
        assert until(lines, f"a line of std{name}") == [name]

    assert either.invocation(command, instance)["Status"] == "InProgress"
    assert either.invocation(command, instance)["ResponseCode"] == -1
    either.ssm.cancel_command(CommandId=command)
    assert either.wait(command, instance)["StandardOutputContent"] == "out\n"


def test_a_role_that_may_not_log_loses_the_log_only(bench: CommandBench) -> None:
    [instance] = bench.launch(profile=bench.profile("ssm:UpdateInstanceInformation"))
    config = {"CloudWatchLogGroupName": f"/{bench.name}", "CloudWatchOutputEnabled": True}

    command = bench.send("echo out", [instance], CloudWatchOutputConfig=config)

    assert bench.wait(command, instance)["StandardOutputContent"] == "out\n"
    groups = bench.logs.describe_log_groups(logGroupNamePrefix=f"/{bench.name}")["logGroups"]
    assert groups == []


def test_long_output_is_cut(bench: CommandBench) -> None:
    found = bench.run("head -c 50000 /dev/zero | tr '\\0' x")

    assert len(found["StandardOutputContent"]) == 24_000
    assert found["StandardOutputContent"].endswith("x--output truncated--")


def test_an_instance_that_ends_leaves_its_invocation_until_the_command_expires(
    bench: CommandBench,
) -> None:
    [instance] = bench.launch()
    command = bench.send(
        WAIT,
        [instance],
        TimeoutSeconds=30,
        Parameters={"commands": [WAIT], "executionTimeout": ["120"]},
    )
    bench.wait(command, instance, "InProgress")

    bench.ec2.terminate_instances(InstanceIds=[instance])

    assert bench.invocation(command, instance)["Status"] == "InProgress"
    found = bench.wait(command, instance)
    assert (found["Status"], found["StatusDetails"]) == ("TimedOut", "DeliveryTimedOut")
    assert bench.command(command)["StatusDetails"] == "DeliveryTimedOut"


def test_after_too_many_errors_no_other_invocation_starts(bench: CommandBench) -> None:
    instances = bench.launch(3)

    command = bench.send("exit 1", instances, MaxConcurrency="1", MaxErrors="0")

    details = [bench.wait(command, instance)["StatusDetails"] for instance in instances]
    assert sorted(details) == ["Failed", "Terminated", "Terminated"]
    assert bench.command(command)["Status"] == "Failed"


def test_a_stopped_instance_is_not_reached_in_time_and_an_ended_one_never(
    bench: CommandBench,
) -> None:
    first, stopped, ended = bench.launch(3)
    parameters = {"commands": [WAIT], "executionTimeout": ["600"]}
    command = bench.send(
        WAIT,
        [first, stopped, ended],
        MaxConcurrency="1",
        TimeoutSeconds=60,
        Parameters=parameters,
    )
    bench.wait(command, first, "InProgress")

    bench.ec2.stop_instances(InstanceIds=[stopped])
    bench.ec2.terminate_instances(InstanceIds=[ended])

    assert bench.wait(command, ended)["StatusDetails"] == "Undeliverable"
    assert bench.wait(command, stopped)["StatusDetails"] == "DeliveryTimedOut"
    bench.ssm.cancel_command(CommandId=command)
    assert bench.wait(command, first)["Status"] == "Cancelled"


def test_targets_are_the_managed_instances_with_a_tag(bench: CommandBench) -> None:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "team", "Value": bench.name}]}]
    [tagged] = bench.launch(TagSpecifications=tags)
    bench.launch(profile=bench.profile("s3:*"), TagSpecifications=tags)
    target = {"Key": "tag:team", "Values": [bench.name]}

    command = bench.send("true", [], Targets=[target])

    bench.wait(command, tagged)
    listed = bench.ssm.list_command_invocations(CommandId=command, Details=True)
    [invocation] = listed["CommandInvocations"]
    assert invocation["InstanceId"] == tagged
    assert invocation["CommandPlugins"][0]["Name"] == "aws:runShellScript"
    none = bench.send("true", [], Targets=[{**target, "Values": ["none"]}])
    assert bench.command(none)["StatusDetails"] == "NoInstancesInTag"


def test_commands_are_listed_by_document_status_and_time(bench: CommandBench) -> None:
    [instance] = bench.launch()
    bench.ssm.create_document(Name=bench.name, Content=document(["true"]))
    for _ in range(2):
        bench.wait(bench.send("", [instance], DocumentName=bench.name, Parameters={}), instance)

    def listed(**filters: str) -> int:
        filters = {"DocumentName": bench.name, **filters}
        pairs = [{"key": key, "value": value} for key, value in filters.items()]
        return len(bench.ssm.list_commands(Filters=pairs)["Commands"])

    assert listed() == 2
    assert listed(Status="Success") == 2
    assert listed(Status="Failed") == 0
    assert listed(InvokedAfter="2020-01-01T00:00:00Z") == 2
    assert listed(InvokedBefore="2020-01-01T00:00:00Z") == 0
    assert listed(DocumentName="AWS-RunShellScript") >= 0
    pages = bench.ssm.get_paginator("list_commands").paginate(
        InstanceId=instance, PaginationConfig={"PageSize": 1}
    )
    assert [len(page["Commands"]) for page in pages] == [1, 1]


def document(lines: list[str], **parameters: Any) -> str:
    step = {"action": "aws:runShellScript", "name": "only", "inputs": {"runCommand": lines}}
    return json.dumps({"schemaVersion": "2.2", "parameters": parameters, "mainSteps": [step]})


def test_a_document_gets_the_values_of_its_parameters(bench: CommandBench) -> None:
    [instance] = bench.launch()
    content = document(
        ["echo {{ Job }}-{{Count}}"],
        Job={"type": "String"},
        Count={"type": "String", "default": "3"},
    )
    bench.ssm.create_document(Name=bench.name, Content=content)

    command = bench.send("", [instance], DocumentName=bench.name, Parameters={"Job": ["bert"]})

    found = bench.wait(command, instance)
    assert found["StandardOutputContent"] == "bert-3\n"
    assert found["PluginName"] == "only"


def test_of_the_plugins_only_the_shell_is_run(bench: CommandBench) -> None:
    step = {"action": "aws:runDocument", "name": "other", "inputs": {}}
    content = json.dumps({"schemaVersion": "2.2", "mainSteps": [step]})
    bench.ssm.create_document(Name=bench.name, Content=content)

    with pytest.raises(ClientError, match="the plugin aws:runDocument of step other"):
        bench.send("", bench.launch(), DocumentName=bench.name, Parameters={})


def test_a_role_sends_the_documents_to_the_instances_that_it_may(bench: CommandBench) -> None:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "team", "Value": bench.name}]}]
    [own] = bench.launch(TagSpecifications=tags)
    [other] = bench.launch()
    bench.ssm.create_document(Name=bench.name, Content=document(["true"]))
    instance = {"Effect": "Allow", "Action": "ssm:SendCommand"}
    instance |= {"Resource": f"arn:aws:ec2:us-west-2:123456789012:instance/{own}"}
    documents = {**instance, "Resource": f"arn:aws:ssm:*:*:document/{bench.name}"}
    ssm = bench.client_of_role("ssm", instance, documents)
    sent = {"DocumentName": bench.name, "InstanceIds": [own]}

    command = ssm.send_command(**sent)["Command"]["CommandId"]

    assert bench.wait(command, own)["Status"] == "Success"
    ssm.send_command(DocumentName=bench.name, Targets=[{"Key": "tag:team", "Values": [bench.name]}])
    with pytest.raises(ClientError, match=f"AccessDenied.*instance/{other}"):
        ssm.send_command(**{**sent, "InstanceIds": [own, other]})
    with pytest.raises(ClientError, match=r"AccessDenied.*us-west-2::document/AWS-RunShellScript"):
        ssm.send_command(**{**sent, "DocumentName": "AWS-RunShellScript"})
    targets = [{"Key": "InstanceIds", "Values": [other]}]
    with pytest.raises(ClientError, match=f"AccessDenied.*instance/{other}"):
        ssm.send_command(DocumentName=bench.name, Targets=targets)


def test_steps_run_in_order_and_go_on_after_one_that_fails(bench: CommandBench) -> None:
    [instance] = bench.launch()
    steps = [
        {"action": "aws:runShellScript", "name": name, "inputs": {"runCommand": [script]}}
        for name, script in (("first", "exit 3"), ("second", "echo second"))
    ]
    content = json.dumps({"schemaVersion": "2.2", "mainSteps": steps})
    bench.ssm.create_document(Name=bench.name, Content=content)
    command = bench.send("", [instance], DocumentName=bench.name, Parameters={})

    def over() -> Any:
        [found] = bench.ssm.list_command_invocations(CommandId=command, Details=True)[
            "CommandInvocations"
        ]
        return found if found["Status"] == "Failed" else None

    found = until(over, "an end")

    assert [(each["Name"], each["ResponseCode"]) for each in found["CommandPlugins"]] == [
        ("first", 3),
        ("second", 0),
    ]
    second = bench.invocation(command, instance, PluginName="second")
    assert second["StandardOutputContent"] == "second\n"


def test_only_running_instances_whose_role_lets_the_agent_talk_are_managed(
    bench: CommandBench,
) -> None:
    [managed, stopped] = bench.launch(2)
    [other] = bench.launch(profile=bench.profile("s3:*"))
    bench.ec2.stop_instances(InstanceIds=[stopped])
    ids = [{"Key": "InstanceIds", "Values": [managed, stopped, other]}]

    [found] = bench.ssm.describe_instance_information(Filters=ids)["InstanceInformationList"]

    assert (found["InstanceId"], found["PingStatus"]) == (managed, "Online")
    assert found["IPAddress"] == bench.address(managed)
    for instance in (stopped, other, "i-0123456789abcdef0"):
        with pytest.raises(ClientError, match=rf"InvalidInstanceId.*\[\[{instance}\]\] not in a"):
            bench.send("true", [instance])


def sleeping(seconds: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["sleep", seconds]
    ]
