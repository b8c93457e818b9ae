"""`trainshed ami build`: the real Packer against an embedded AWS whose instances run nothing."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from skips import needs
from terminal import by_default, session

from embedded_aws.faults import Fault
from trainshed.ami.leftovers import remove_leftover, tagged_leftovers
from trainshed.aws import Region
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import write_recipes

Command = Callable[..., Any]
WEST = "us-west-2"
ROOT = Path(__file__).parents[3]

needs_packer = needs("packer")


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is the checkout, as for a user."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def build(trainshed: Command, account: Any, tmp_path: Path) -> Command:
    """Run `trainshed ami build` into a folder of its own, in two zones."""

    def run(*words: str) -> Any:
        subnets = [f"--subnet={subnet}" for subnet in account.subnets[WEST]]
        return trainshed(
            "ami", "build", "neuron", "ec2", "--output", str(tmp_path / "out"), *subnets, *words
        )

    return run


def left(account: Any) -> dict[str, list[str]]:
    """Return what is in the account that a build makes for a while."""
    ec2 = account.aws.client("ec2")
    groups = ec2.describe_security_groups()["SecurityGroups"]
    return {
        "instances": [one for one, state in account.instances().items() if state != "terminated"],
        "keys": [key["KeyName"] for key in ec2.describe_key_pairs()["KeyPairs"]],
        "groups": [one["GroupName"] for one in groups if one["GroupName"] != "default"],
    }


NOTHING: dict[str, list[str]] = {"instances": [], "keys": [], "groups": []}


def refuse(account: Any, code: str, message: str) -> None:
    account.aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code=code,
            message=message,
            count=None,
        )
    )


@needs_packer
def test_no_capacity_anywhere_names_each_subnet_and_leaves_nothing(
    build: Command, account: Any, tmp_path: Path
) -> None:
    words = "We currently do not have sufficient m6i.xlarge capacity in the Availability Zone"
    refuse(account, "InsufficientInstanceCapacity", words)

    answer = build()

    first, second = account.subnets[WEST]
    assert (answer.code, answer.out) == (1, "")
    assert f"error: no capacity: InsufficientInstanceCapacity: {words}" in answer.err
    assert f"tried {first} (us-west-2a), {second} (us-west-2b)" in answer.err
    assert left(account) == NOTHING
    log = (tmp_path / "out" / "build.log").read_text()
    assert log.count("Error launching source instance") >= 2


@needs_packer
def test_only_a_lack_of_capacity_moves_to_another_subnet(build: Command, account: Any) -> None:
    account.aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=None,
            when={"AvailabilityZone": "us-west-2a"},
        ),
        Fault(
            service="ec2",
            operation="RunInstances",
            code="VcpuLimitExceeded",
            message="You have requested more vCPU capacity than your current vCPU limit of 0",
            when={"AvailabilityZone": "us-west-2b"},
        ),
    )

    answer = build()

    assert answer.code == 1
    assert f"building in {account.subnets[WEST][1]} (us-west-2b)" in answer.err
    assert "error: quota: VcpuLimitExceeded: You have requested more" in answer.err
    assert "Service Quotas" in answer.err


@needs_packer
def test_a_denied_call_names_the_action_and_is_not_repeated_elsewhere(
    build: Command, account: Any
) -> None:
    refuse(account, "UnauthorizedOperation", "You are not authorized to perform this operation.")

    answer = build()

    assert answer.code == 1
    assert "error: missing permission: the credentials lack ec2:RunInstances" in answer.err
    assert "(us-west-2b)" not in answer.err
    assert left(account) == NOTHING


@needs_packer
def test_a_source_ami_that_is_gone_is_reported_with_its_name(
    build: Command, account: Any, tmp_path: Path
) -> None:
    template = tmp_path / "packer"
    shutil.copytree("packer", template)
    pins = template / "pins.json"
    pins.write_text(pins.read_text().replace("al2023-ami-", "al2023-withdrawn-"))
    write_recipes(template, read_pins(pins))

    answer = build("--template", str(template))

    assert answer.code == 1
    assert "error: no source AMI: No AMI was found matching filters" in answer.err
    assert "al2023-withdrawn-" in answer.err and "pins.json" in answer.err


@pytest.mark.parametrize("words", [[], ["--var", "ssh_interface=session_manager"]])
def test_without_the_session_manager_plugin_no_instance_is_launched_on_aws(
    build: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    program(tmp_path / "packer", 'echo "Packer v1.16.0"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    answer = build(*words)

    assert answer.code == 2
    assert "session-manager-plugin is not on PATH" in answer.err
    assert "set the variable ssh_interface=private_ip" in answer.err


@needs_packer
@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--var", "nosuch=1"], 'A "nosuch" variable was passed', id="variable"),
        pytest.param(["--var", "root_gib=1"], "variable: The root_gib is between", id="validation"),
        pytest.param(
            ["--var", "neuron_base=amazon-linux-2"], "ended on 2026-06-30", id="unsupported-cell"
        ),
    ],
)
def test_what_the_template_refuses_is_an_invalid_template(
    build: Command, words: list[str], message: str
) -> None:
    answer = build(*words)

    assert answer.code == 1
    assert "error: invalid template: " in answer.err
    assert message in answer.err
    assert "line 0" not in answer.err and "source code" not in answer.err


def test_dry_run_prints_packers_command_for_each_subnet_and_runs_nothing(
    build: Command, account: Any, tmp_path: Path
) -> None:
    answer = build("--dry-run", "--var", "spot=true", "--var-file", "mine.pkrvars.hcl")

    commands = [shlex.split(line) for line in answer.out.splitlines()]
    assert [words[1] for words in commands] == ["build", "build"]
    assert [f"-var=subnet_id={one}" for one in account.subnets[WEST]] == [
        next(word for word in words if "subnet_id" in word) for words in commands
    ]
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert any(word.startswith(f"-var=commit={commit}") for word in commands[0])
    assert "-var=spot=true" in commands[0] and f"-var-file={ROOT}/mine.pkrvars.hcl" in commands[0]
    assert commands[0][-1] == str(ROOT / "packer")
    assert not (tmp_path / "out").exists()


def test_a_base_is_handed_on_and_has_a_folder_of_its_own(trainshed: Command, account: Any) -> None:
    subnet = f"--subnet={account.subnets[WEST][0]}"

    answer = trainshed(
        "ami", "build", "nvidia", "ec2", "--base", "ubuntu-24.04", "--dry-run", subnet
    )

    words = shlex.split(answer.out)
    assert "-var=nvidia_base=ubuntu-24.04" in words
    assert f"-var=output={ROOT}/build/nvidia-ec2-ubuntu-24.04" in words


@pytest.mark.parametrize(
    ("cell", "base", "message"),
    [
        (
            ("nvidia", "ecs"),
            "ubuntu-24.04",
            "there is no AMI for nvidia/ecs on ubuntu-24.04: AWS documents multi-node jobs of "
            "AWS Batch, and ecs-init, for Amazon Linux only; choose another base",
        ),
        (("nvidia", "ec2"), "ubuntu-24", "base of nvidia AMIs 'ubuntu-24' is not known"),
        (("habana", "ec2"), "ubuntu-24.04", "(known: ubuntu-22.04, ubuntu-24.04_6.8)"),
    ],
)
def test_a_base_that_the_cell_has_no_pins_for_is_refused(
    trainshed: Command, account: Any, cell: tuple[str, str], base: str, message: str
) -> None:
    answer = trainshed("ami", "build", *cell, "--base", base, "--dry-run")

    assert answer.code == 2
    assert message in answer.err


def test_without_packer_it_says_where_to_get_it(
    build: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = build()

    assert answer.code == 2
    assert answer.err == (
        "error: packer is not on PATH; get Packer 1.9.4 or later from HashiCorp, "
        "https://developer.hashicorp.com/packer/install\n"
    )
    assert 'required_version = ">= 1.9.4"' in (ROOT / "packer/plugins.pkr.hcl").read_text()


def test_a_packer_that_cannot_require_imdsv2_bakes_nothing_for_aws(
    build: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "packer", 'echo "Packer v1.6.6"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    answer = build()

    assert answer.code == 2
    assert f"{tmp_path}/packer is Packer 1.6.6, which cannot require IMDSv2" in answer.err
    assert "get Packer 1.9.4 or later" in answer.err


@pytest.mark.parametrize(
    ("words", "subnets"),
    [
        pytest.param([], ["SUBNET"], id="default-vpc"),
        pytest.param(["--subnet-filter", "tag:Name=build-*"], ["SUBNET"], id="filter"),
        pytest.param(["--subnet", "subnet-1", "--subnet", "subnet-2"], ["subnet-1", "subnet-2"]),
        pytest.param(["--var", "subnet_id=subnet-3"], ["subnet-3"], id="variable"),
    ],
)
def test_dry_run_needs_no_packer_no_credentials_and_no_network(
    trainshed: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    subnets: list[str],
) -> None:
    (tmp_path / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    answer = trainshed("ami", "build", "neuron", "ecs", "--region", WEST, "--dry-run", *words)

    assert answer.code == 0
    printed = [
        word.removeprefix("-var=subnet_id=")
        for line in answer.out.splitlines()
        for word in shlex.split(line)
        if word.startswith("-var=subnet_id=")
    ]
    assert printed == subnets
    assert ("SUBNET: each subnet that AWS lists" in answer.err) == (subnets == ["SUBNET"])


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def test_another_program_called_packer_is_recognised(
    build: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # cracklib has a /usr/sbin/packer.
    program(tmp_path / "packer", "echo '0 0'\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    answer = build()

    assert answer.code == 2
    assert "is not HashiCorp's Packer" in answer.err


def test_a_current_packer_gets_its_plugins_and_the_template_as_it_is(
    build: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(
        tmp_path / "packer",
        f"""echo "$@" >> {tmp_path}/calls
case $1 in
version) echo "Packer v1.16.0" ;;
init) echo "Failed getting the \\"github.com/hashicorp/amazon\\" plugin:"; exit 1 ;;
esac
""",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    answer = build()

    assert (tmp_path / "calls").read_text().splitlines()[1:] == [f"init {ROOT / 'packer'}"]
    assert answer.code == 1
    assert "error: missing plugin: " in answer.err and "packer init" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--var", "spot"], "'spot' is not NAME=VALUE", id="var"),
        pytest.param(["--template", "docs"], "docs has no Packer template", id="template"),
        pytest.param(["--timeout-minutes", "0"], "must be at least 1", id="timeout"),
        pytest.param(["--timeout-minutes", "9" * 20], "and at most 2160, got 9", id="endless"),
        pytest.param(
            ["--output", "README.md", "--subnet-filter", "default-for-az=false"],
            "README.md cannot be written to: File exists; give another output folder",
            id="output",
        ),
        pytest.param(["--subnet-filter", "x"], "is not NAME=VALUE", id="filter"),
        pytest.param(["--subnet-filter", "tag:Name=x"], "no subnet of us-west-2", id="no-subnet"),
        pytest.param([], "no subnet of us-west-2 is in a default VPC", id="no-default-vpc"),
    ],
)
@needs_packer
def test_wrong_input_is_one_line_and_exit_code_2(
    trainshed: Command, account: Any, words: list[str], message: str
) -> None:
    answer = trainshed("ami", "build", "neuron", "ec2", *words)

    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err and answer.err.count("\n") == 1


def test_a_cell_that_does_not_exist_is_refused_before_anything_is_looked_for(
    trainshed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    answer = trainshed("ami", "build", "gpu", "ecs")

    assert answer.code == 2
    assert answer.err.startswith("error: there is no AMI for gpu/ecs, only for habana/ec2, ")


@pytest.fixture
def running(account: Any, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A build that waits for ssh, forever."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", "from trainshed.cli import main; main()", "ami", "build"),
            *("neuron", "ec2", "--output", str(tmp_path / "out")),
            *("--subnet", account.subnets[WEST][0]),
        ],
        env=account.aws.environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=by_default,
    )
    assert process.stderr
    for line in process.stderr:
        if "Waiting for SSH" in line:
            break
    yield process
    if process.poll() is None:
        kill_hard(process)


@needs_packer
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_build_leaves_nothing(
    running: subprocess.Popen[str], account: Any, number: signal.Signals
) -> None:
    running.send_signal(number)
    _, errors = running.communicate(timeout=300)

    assert running.returncode == 128 + number
    assert "error: interrupted: " in errors
    assert left(account) == NOTHING


@needs_packer
def test_a_build_whose_terminal_is_closed_leaves_nothing(account: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trainshed.cli", "ami", "build", "neuron", "ec2"]
    command += ["--output", str(tmp_path / "out"), "--subnet", account.subnets[WEST][0]]
    with session(command, folder=Path(), environment=account.aws.environment) as started:
        started.wait_for(b"Waiting for SSH")

        started.stop("close")

    assert started.process.returncode == 128 + signal.SIGHUP
    assert left(account) == NOTHING


@needs_packer
def test_a_second_build_into_the_same_folder_is_refused(
    running: subprocess.Popen[str], build: Command
) -> None:
    answer = build()

    assert answer.code == 2
    assert "another build into" in answer.err and "is running" in answer.err


def kill_hard(running: subprocess.Popen[str]) -> None:
    """Kill a build with its Packer, so that neither can clean up."""
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(running.pid)], capture_output=True, text=True, check=True
    )
    running.kill()
    for child in children.stdout.split():
        os.killpg(int(child), signal.SIGKILL)
    running.communicate()


@needs_packer
def test_what_a_killed_build_left_is_removed_by_the_next_one(
    running: subprocess.Popen[str], build: Command, account: Any
) -> None:
    kill_hard(running)
    before = left(account)
    refuse(account, "VcpuLimitExceeded", "No.")

    answer = build()

    assert [len(names) for names in before.values()] == [1, 1, 1]
    assert left(account) == NOTHING
    for kind in ("instance", "key pair", "security group"):
        assert f"removed what a dead build had left: {kind} " in answer.err


@needs_packer
def test_what_a_dead_build_left_is_found_by_its_tags_when_it_is_old(
    running: subprocess.Popen[str], account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_hard(running)
    account.aws.lead_here(monkeypatch)
    region, now = Region(WEST), datetime.now(UTC)
    limit = timedelta(hours=3)

    young = tagged_leftovers(region, now=now, older_than=limit)
    old = tagged_leftovers(region, now=now + timedelta(hours=4), older_than=limit)
    for leftover in old:
        remove_leftover(region, leftover)

    assert young == []
    assert {leftover.kind for leftover in old} == {"instance", "key pair", "security group"}
    assert left(account) == NOTHING


@needs_packer
def test_a_foreign_instance_is_no_leftover(account: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    account.launch(
        account.stock_image(),
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [{"Key": "trainshed:build", "Value": "20200101T000000Z"}],
            }
        ],
    )

    found = tagged_leftovers(Region(WEST), now=datetime.now(UTC), older_than=timedelta(hours=3))

    assert found == []


def test_recipes_that_are_not_those_of_the_pins_are_refused_until_they_are_written(
    trainshed: Command, account: Any, tmp_path: Path
) -> None:
    template = tmp_path / "packer"
    shutil.copytree("packer", template)
    pins = template / "pins.json"
    pins.write_text(pins.read_text().replace("al2023-ami-", "al2023-newer-"))
    cell = ("neuron", "ecs", "--var", "subnet_id=subnet-1", "--dry-run")
    build = ("ami", "build", *cell, "--template", str(template))

    stale = trainshed(*build)
    written = trainshed("ami", "recipes", "--template", str(template))

    assert stale.code == 2
    remedy = f"write the recipes: trainshed ami recipes --template {template}"
    assert f"is not what {pins} says; {remedy}" in stale.err
    assert written.code == 0
    assert trainshed(*build).code == 0


def test_a_recipe_that_the_pins_do_not_have_is_refused(
    trainshed: Command, account: Any, tmp_path: Path
) -> None:
    template = tmp_path / "packer"
    shutil.copytree("packer", template)
    old = template / "recipes/neuron-ecs-debian-9.json"
    old.write_text("{}")

    options = ("--var", "subnet_id=subnet-1", "--dry-run", "--template", str(template))
    answer = trainshed("ami", "build", "neuron", "ecs", *options)

    assert answer.code == 2
    assert f"{old} is not what {template / 'pins.json'} says" in answer.err


def test_recipes_are_not_written_into_the_packer_folder_that_trainshed_ships(
    trainshed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed("ami", "recipes")

    assert answer.code == 2
    assert "trainshed init --with-packer" in answer.err
