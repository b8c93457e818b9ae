"""What the command of a job gets: variables, parameters, secrets, credentials, and nothing else."""

import json
import re
from typing import Any

import pytest
from job_bench import JobBench

PRINT = "import json, os; print(json.dumps(dict(os.environ)))"
# Python's -I: no path of the suite's own environment is missed here.
PRINT_ENVIRONMENT = ["python3", "-I", "-c", PRINT]
ALWAYS = {
    *("AWS_BATCH_CE_NAME", "AWS_BATCH_JOB_ATTEMPT", "AWS_BATCH_JOB_ID", "AWS_BATCH_JQ_NAME"),
    *("AWS_EC2_METADATA_DISABLED", "AWS_ENDPOINT_URL", "AWS_EXECUTION_ENV", "EMBEDDED_AWS_NODE"),
    *("HOME", "PATH", "TMPDIR"),
}
# boto3 needs one, and ECS tells none.
REGION = [{"name": "AWS_DEFAULT_REGION", "value": "us-west-2"}]
OF_NODES = {
    *("AWS_BATCH_JOB_MAIN_NODE_INDEX", "AWS_BATCH_JOB_NODE_INDEX", "AWS_BATCH_JOB_NUM_NODES"),
}


def environment(bench: JobBench, job: Any) -> dict[str, str]:
    [line] = bench.lines(job)
    found: dict[str, str] = json.loads(line)
    # Python sets it where there is no locale.
    found.pop("LC_CTYPE", None)
    return found


def role(bench: JobBench, service: str = "ecs-tasks.amazonaws.com") -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    trust = {"Version": "2012-10-17", "Statement": [statement]}
    made = bench.aws.client("iam").create_role(
        RoleName=bench.name, AssumeRolePolicyDocument=json.dumps(trust)
    )
    return str(made["Role"]["Arn"])


def test_nothing_of_the_users_own_environment_reaches_a_container_job(bench: JobBench) -> None:
    job = bench.run(PRINT_ENVIRONMENT, environment=[{"name": "MODEL", "value": "bert"}])

    found = environment(bench, job)
    assert set(found) == ALWAYS | {"MODEL", "EMBEDDED_AWS_ADDRESS"}
    assert found["MODEL"] == "bert"
    assert found["AWS_BATCH_JOB_ID"] == job["jobId"]
    assert found["AWS_BATCH_JOB_ATTEMPT"] == "1"
    assert found["AWS_BATCH_CE_NAME"] == found["AWS_BATCH_JQ_NAME"] == bench.name
    assert found["AWS_ENDPOINT_URL"] == bench.aws.endpoint


def test_a_job_of_one_container_has_the_network_of_its_host(namespaces: JobBench) -> None:
    job = namespaces.run(PRINT_ENVIRONMENT)

    assert "networkInterfaces" not in job["container"]
    assert "networkInterfaces" not in job["attempts"][0]["container"]


def test_only_the_children_learn_the_main_nodes_address(namespaces: JobBench) -> None:
    job = namespaces.run(PRINT_ENVIRONMENT, nodes=2)
    nodes = [namespaces.describe(f"{job['jobId']}#{index}") for index in range(2)]
    main = environment(namespaces, nodes[0])

    [interface] = nodes[0]["container"]["networkInterfaces"]

    assert set(main) == ALWAYS | OF_NODES
    assert main["AWS_BATCH_JOB_ID"] == f"{job['jobId']}#0"
    assert main["AWS_BATCH_JOB_NUM_NODES"] == "2"
    assert interface["privateIpv4Address"].startswith("10.20.")


def test_the_main_nodes_address_is_that_of_its_own(either: JobBench) -> None:
    job = either.submit(either.define("env; echo all; exec sleep 100", nodes=2))
    either.wait_for_line(f"{job}#1", "all")
    either.batch.terminate_job(jobId=job, reason="seen")
    either.wait(job)
    main, child = (either.describe(f"{job}#{index}") for index in range(2))

    [interface] = main["container"]["networkInterfaces"]

    name = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"
    assert f"{name}={interface['privateIpv4Address']}" in either.lines(child)
    assert not any(line.startswith(name) for line in either.lines(main))


def test_a_node_without_an_image_finds_its_instance_in_files_of_its_own(either: JobBench) -> None:
    show = 'echo "$(cat $EMBEDDED_AWS_NODE/sys/class/dmi/id/board_asset_tag)"; echo all'
    # The end of the main node would end the other one.
    job = either.submit(either.define(f"{show}; exec sleep 100", nodes=2))
    for index in range(2):
        either.wait_for_line(f"{job}#{index}", "all")
    either.batch.terminate_job(jobId=job, reason="seen")
    either.wait(job)

    said = [either.lines(either.describe(f"{job}#{index}")) for index in range(2)]
    assert all(re.fullmatch(r"i-[0-9a-f]{17}", line) for line, _ in said)
    assert said[0] != said[1]


def test_a_submission_changes_command_environment_and_number_of_nodes(bench: JobBench) -> None:
    definition = bench.define(
        "exit 1",
        nodes=2,
        environment=[{"name": "LAYERS", "value": "2"}, {"name": "HEADS", "value": "3"}],
    )
    changes = {
        "command": ["sh", "-c", "echo Ref::step $LAYERS $HEADS $AWS_BATCH_JOB_NUM_NODES"],
        "environment": [{"name": "LAYERS", "value": "12"}],
    }

    job = bench.wait(
        bench.submit(
            definition,
            parameters={"step": "pretrain"},
            nodeOverrides={
                "numNodes": 3,
                "nodePropertyOverrides": [{"targetNodes": "0:", "containerOverrides": changes}],
            },
        )
    )

    assert job["status"] == "SUCCEEDED"
    assert bench.lines(bench.describe(f"{job['jobId']}#0")) == ["pretrain 12 3 3"]


def test_the_environment_of_aws_batch_cannot_be_changed_by_a_job(bench: JobBench) -> None:
    definition = bench.define("echo $AWS_BATCH_JOB_ATTEMPT")
    overrides = {"environment": [{"name": "AWS_BATCH_JOB_ATTEMPT", "value": "9"}]}

    job = bench.wait(bench.submit(definition, containerOverrides=overrides))

    assert bench.lines(job) == ["1"]


def test_secrets_are_in_the_environment_and_not_in_the_description(bench: JobBench) -> None:
    secret = bench.aws.client("secretsmanager").create_secret(
        Name=bench.name, SecretString='{"key": "in confidence"}'
    )["ARN"]
    bench.aws.client("ssm").put_parameter(Name=f"/{bench.name}", Value="def", Type="SecureString")
    arn = f"arn:aws:ssm:us-west-2:123456789012:parameter/{bench.name}"

    job = bench.run(
        "echo $WHOLE; echo $KEY; echo $PARAMETER",
        executionRoleArn=role(bench),
        secrets=[
            {"name": "WHOLE", "valueFrom": secret},
            {"name": "KEY", "valueFrom": f"{secret}:key::"},
            {"name": "PARAMETER", "valueFrom": arn},
        ],
    )

    assert bench.lines(job) == ['{"key": "in confidence"}', "in confidence", "def"]
    assert "in confidence" not in json.dumps(job, default=str)


def test_a_secret_that_is_not_there_fails_the_task(bench: JobBench) -> None:
    job = bench.run(
        "true", executionRoleArn=role(bench), secrets=[{"name": "KEY", "valueFrom": "/none"}]
    )

    assert job["statusReason"] == "Task failed to start"
    assert job["container"]["reason"].startswith("ResourceInitializationError: unable to pull")


def test_a_job_calls_the_embedded_aws_as_its_role(either: JobBench) -> None:
    calls = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"

    job = either.run(["python", "-c", calls], jobRoleArn=role(either), environment=REGION)

    task = job["container"]["taskArn"].rpartition("/")[2]
    assert job["status"] == "SUCCEEDED"
    assert either.lines(job) == [
        f"arn:aws:sts::123456789012:assumed-role/{either.name}/{task}",
    ]


def test_a_job_without_a_role_has_no_credentials(bench: JobBench) -> None:
    call = "import boto3; boto3.client('sts').get_caller_identity()"

    job = bench.run(["python", "-c", call], environment=REGION)

    assert job["status"] == "FAILED"
    assert "Unable to locate credentials" in bench.lines(job)[-1]


def test_a_role_that_is_not_there_fails_the_task(bench: JobBench) -> None:
    job = bench.run("true", jobRoleArn="arn:aws:iam::123456789012:role/none")

    assert job["container"]["reason"].startswith("ECS was unable to assume the role")


def test_a_role_that_lets_other_services_in_fails_the_task(bench: JobBench) -> None:
    job = bench.run("true", jobRoleArn=role(bench, "ec2.amazonaws.com"))

    assert job["container"]["reason"].startswith("ECS was unable to assume the role")


@pytest.mark.parametrize("token", ["", "guess"])
def test_credentials_need_the_token_of_the_task(bench: JobBench, token: str) -> None:
    script = (
        "import os, sys, urllib.request as r, urllib.error as e\n"
        "uri = os.environ['AWS_CONTAINER_CREDENTIALS_FULL_URI']\n"
        "try: r.urlopen(r.Request(uri, headers={'Authorization': sys.argv[1]}))\n"
        "except e.HTTPError as error: print(error.code)"
    )

    job = bench.run(["python", "-c", script, token], jobRoleArn=role(bench))

    assert bench.lines(job) == ["403"]
