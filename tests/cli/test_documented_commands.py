"""Every command that the documents show runs as it stands there, here or where a table says."""

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from documented import ROOT, Example, examples, one_line, unmarked
from preflight_account import TRN_QUOTA

from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import load_fleet

Command = Callable[..., Any]
TEST, GATE, MAKEFILE = ".github/workflows/test.yml", ".ci/run", "Makefile"
REVIEW = ("tests/cli/test_review.py", 'each.page == "docs/review.md"')
INSTALL, WHEELS = "tests/packaging/test_distributions.py", "tests/packaging/conftest.py"
UPGRADE = "tests/packaging/test_upgrade.py"
LADDER, BAKE = "tests/ladder/conftest.py", "tests/support/bake_bench.py"
COMMANDS, GPU_TOOLS = "tests/ladder/test_commands.py", "tests/ladder/test_gpu_tools.py"
CONTAINERS, CATALOGUE = "tests/containers/test_commands.py", "tests/cli/test_catalogue.py"
OPTIONS = "tests/cli/test_documented_options.py"
JOB, READY_JOBS = "tests/offline/test_job.py", "tests/offline/test_ready_jobs.py"
EKS, KUBE = "tests/offline/test_eks.py", "tests/offline/test_kube.py"
KUBE_LOCK = "tests/offline/test_kube_lock.py"
EC2_JOBS = "tests/offline/test_ec2_jobs.py"
APPLY = "tests/apply/test_apply.py"
FRESH = "tests/offline/test_fresh_account.py"
PIPELINE, BUILD = "tests/offline/test_ami_pipeline.py", "tests/cli/ami/test_build.py"
# What cannot run here, because it needs root, Packer, a container engine, a network, an account or
# minutes: the file of the test that runs it as it stands, by `documented`. Or the file of a test or
# of CI that runs the same with other names, and what stands there for it. Of some commands of AWS
# only the options are tested.
NODES = "tests/offline/test_ec2_nodes.py"
ELSEWHERE: dict[str, str | tuple[str, str]] = {
    "trainshed review --base origin/main": REVIEW,
    "trainshed review --base origin/main --output review.html": REVIEW,
    'trainshed review --base origin/main --fail-on "data-loss,high,cost>10%"': REVIEW,
    "git clone <this repository> trainshed && cd trainshed": ("scripts/test-bare", "git clone"),
    "make setup && source .venv/bin/activate": (".github/workflows/release.yml", "make setup"),
    "kubectl get nodes": ("tests/offline/test_kube.py", 'kubectl("get", "nodes"'),
    "make demo": (TEST, "run: make demo"),
    "trainshed rehearse TrainCluster --nodes 4 -- trainshed-launch --processes 2 mpirun -n 8 "
    "python examples/all_reduce.py": ("tests/rehearse/test_rehearsal.py", '"rehearse", "TrainCl'),
    "trainshed rehearse TrainCluster --nodes 4 --fault kill-child --fault-after 'step 14 of 26' "
    "--send examples/bert -- "
    "torchrun --nproc-per-node 1 examples/bert/train.py --model tiny --data synthetic "
    "--checkpoint /tmp/bert --micro-batch 4 --steps 26 --checkpoint-every 12": (
        "tests/rehearse/test_rehearsal.py",
        '"--fault", "kill-child", "--fault-after", "step 21 of 40"',
    ),
    "trainshed job submit TrainCluster --nodes 16 --name bert --send examples/bert -- torchrun "
    "--nproc-per-node 8 examples/bert/train.py --model 1.5b --data /fsx/bert/data "
    "--checkpoint /fsx/bert/run1": (
        "tests/ready_jobs/test_bert_settings.py",
        '["--model", "1.5b", *PLACES]',
    ),
    "make test": (TEST, "run: make test"),
    "make lint": (TEST, "run: make lint"),
    "make docs": (".github/workflows/docs.yml", "run: make docs"),
    "make dist": (WHEELS, '"hatchling", "build"'),
    "make ami-lint ami-validate": (MAKEFILE, "ladder: ami-lint ami-validate"),
    "sudo make ladder": (GATE, "make upper-ladder"),
    "sudo apt-get install -y $(cat .ci/apt-packages)": (MAKEFILE, "<.ci/apt-packages"),
    "sudo apt-get install debootstrap systemd-container": (
        ".ci/apt-packages",
        "\ndebootstrap\n",
    ),
    "sudo embedded-aws guests prepare": (MAKEFILE, "trainshed offline guests prepare"),
    'embedded-aws control storage \'[{"file_system": "fs-0123456789abcdef0", "gib": 1080}]\'': (
        "embedded-aws/tests/services/test_lustre_metrics.py",
        "place.aws.fill_storage(name, gib)",
    ),
    "embedded-aws kubernetes prepare": (MAKEFILE, "trainshed offline kubernetes prepare"),
    "sudo embedded-aws run --guests -- packer build ...": (BAKE, '["packer", "build"'),
    "pytest tests/ladder/test_bake.py -k neuron-ecs --basetemp /var/tmp/ladder": (
        MAKEFILE,
        "pytest -q tests/ladder/test_bake.py",
    ),
    "less /var/tmp/ladder/oven0/bakes/neuron-ecs/log": (BAKE, 'folder / "log"'),
    "cd tests/support && python -m vendors /var/tmp/bench": (LADDER, "serve_vendors("),
    "cd packer": (LADDER, 'ROOT / "packer"'),
    "packer init .": (LADDER, '["packer", "init", template]'),
    "packer version": ("src/trainshed/ami/packer.py", '[program, "version"]'),
    "(cd packer && packer init . && packer validate -var accelerator=neuron -var orchestrator=ec2 .)": (  # noqa: E501
        "tests/packer/test_validate.py",
        'ask("validate"',
    ),
    "packer build -var accelerator=neuron -var orchestrator=ecs "
    "-var commit=$(git rev-parse HEAD) .": (BAKE, '["packer", "build"'),
    "session-manager-plugin --version": (BUILD, "session-manager-plugin"),
    "aws ce update-cost-allocation-tags-status --cost-allocation-tags-status "
    "TagKey=trainshed:cluster,Status=Active": (OPTIONS, "test_commands_of_the_aws_cli_exist"),
    "aws sts get-caller-identity": (OPTIONS, "test_commands_of_the_aws_cli_exist"),
    "sudo dcgmi discovery --host unix:///run/nvidia-dcgm/nv-hostengine --list": (
        GPU_TOOLS,
        "dcgmi discovery --host unix://{_SOCKET} --list",
    ),
    # It needs a GPU; the other command asks at the same address.
    "sudo dcgmi diag --host unix:///run/nvidia-dcgm/nv-hostengine --run 1": (
        GPU_TOOLS,
        "dcgmi discovery --host unix://{_SOCKET}",
    ),
    "sudo systemctl edit nvidia-dcgm-exporter": (GPU_TOOLS, "systemctl start nvidia-dcgm-exporter"),
    "trainshed ami build neuron ecs": (COMMANDS, '"build", "neuron", "ec2"'),
    "trainshed ami build neuron ec2 --region us-west-2": (COMMANDS, '"build", "neuron", "ec2"'),
    "trainshed ami publish build/neuron-ec2/manifest.json --channel stable": (
        COMMANDS,
        '"publish", str(output / "manifest.json")',
    ),
    "trainshed apply TrainCluster --plan": (APPLY, 'apply("--plan", "--json")'),
    "trainshed apply TrainCluster --blue-green": (
        "tests/apply/test_blue_green.py",
        '"--yes", "--blue-green"',
    ),
    "trainshed apply TrainCluster": (APPLY, 'call("--yes")'),
    "trainshed up TrainCluster --plan": ("tests/up/test_up.py", 'up("--plan", "--json")'),
    "trainshed status TrainCluster": "tests/offline/test_status.py",
    "trainshed top TrainCluster": "tests/offline/test_status.py",
    "trainshed up TrainCluster": ("scripts/demo.py", '"trainshed", "up", cluster'),
    "trainshed offline control quotas "
    '\'[{"service": "ec2", "code": "L-2C3B7624", "value": 2048}]\'': (
        "scripts/demo.py",
        '"offline", "control", "quotas"',
    ),
    "trainshed ami build neuron eks-1.35": (COMMANDS, '"build", "neuron", "ec2"'),
    "trainshed ami publish build/neuron-eks-1.35/manifest.json --channel stable": (
        FRESH,
        "subprocess.run(PUBLISH.split()",
    ),
    "trainshed ami build neuron ecs --region us-west-2": (COMMANDS, '"build", "neuron", "ec2"'),
    "trainshed job submit TrainCluster --nodes 4 -- torchrun train.py": (
        JOB,
        '("submit", "TrainCluster", "--nodes", "3", "--name", "ranks"',
    ),
    "npx cdk deploy PlainCluster": (EC2_JOBS, '"PlainNetwork", "PlainCluster"'),
    "aws autoscaling start-instance-refresh --auto-scaling-group-name PlainCluster --preferences "
    "MinHealthyPercentage=0": (OPTIONS, "test_commands_of_the_aws_cli_exist"),
    "trainshed job shell PlainCluster": EC2_JOBS,
    "trainshed job shell TrainCluster": (EC2_JOBS, "trainshed job shell PlainCluster"),
    "trainshed job shell TrainCluster --node 10.20.0.11 -- /opt/aws/neuron/bin/neuron-top": (
        EC2_JOBS,
        'shell("--node", ',
    ),
    "trainshed-launch --hosts /etc/trainshed/hosts torchrun --nproc-per-node 32 train.py": (
        "tests/launch/test_run_job.py",
        '"trainshed-launch", "sh", "-c"',
    ),
    "trainshed ami publish build/neuron-ecs/manifest.json --test": (
        COMMANDS,
        '"publish", str(output / "manifest.json"), "--test"',
    ),
    "trainshed kube apply TrainCluster": (KUBE, 'kube("apply", "kube.yaml", "--wait-minutes"'),
    "trainshed kube apply TrainCluster --dry-run": (KUBE, '"apply", "kube.yaml", "--dry-run"'),
    "trainshed kube config TrainCluster": (EKS, '"kube", "config", "kube.yaml"'),
    "trainshed kube lock TrainCluster": (KUBE_LOCK, '"kube", "lock", "lock.yaml"'),
    "trainshed kube nodes TrainCluster": (EKS, '["config", "nodes"]'),
    "trainshed catalogue sync": (CATALOGUE, '"catalogue", "sync", "--output"'),
    "trainshed catalogue sync --region us-west-2 --region us-east-1": (
        CATALOGUE,
        '"catalogue", "sync", "--region", "us-west-2"',
    ),
    "trainshed catalogue sync --region us-west-2 --output some/folder": CATALOGUE,
    "trainshed cost sync --region us-west-2": "tests/cli/test_cost.py",
    "trainshed container build TrainCluster": (
        "tests/containers/test_build.py",
        '"trainshed", "container", "build"',
    ),
    "trainshed container push TrainCluster": (CONTAINERS, '"push", str(cluster)'),
    "trainshed container push TrainCluster --ami ami-0123456789abcdef0": (
        CONTAINERS,
        '"push", str(cluster), "--ami"',
    ),
    "npx cdk deploy AmiPipeline": (PIPELINE, "clean_aws.deploy("),
    'aws codebuild start-build --project-name "$PROJECT"': (PIPELINE, "start_build(projectName="),
    "aws cloudformation describe-stacks --stack-name TrainCluster --query 'Stacks[0].Outputs'": (
        "tests/offline/test_day_two.py",
        "describe_stacks(StackName=",
    ),
    "aws ec2 describe-instances --filters Name=tag:trainshed:cluster,Values=TrainCluster --query "
    "'Reservations[].Instances[].[InstanceId,State.Name,Tags[?Key==`trainshed:boot`].Value|[0]]' "
    "--output text": (
        "tests/guests/test_first_boot.py",
        "aws ec2 describe-instances --filters Name=tag:trainshed:cluster,Values=TrainCluster",
    ),
    "aws iam create-service-linked-role --aws-service-name autoscaling.amazonaws.com": (
        OPTIONS,
        "test_commands_of_the_aws_cli_exist",
    ),
    "aws iam create-service-linked-role --aws-service-name batch.amazonaws.com": (
        OPTIONS,
        "test_commands_of_the_aws_cli_exist",
    ),
    "trainshed job submit TrainCluster --nodes 4 --name pretrain --send train.py -- python "
    "train.py": JOB,
    "trainshed offline image TrainCluster": "tests/rehearse/test_rehearsal.py",
    "trainshed job submit TrainCluster --nodes 4 --send examples/all_reduce_torch.py -- torchrun "
    "--nproc-per-node 2 examples/all_reduce_torch.py": (
        "tests/offline/test_job.py",
        '"--send", "src", "--send", "run"',
    ),
    "trainshed job submit TrainCluster --nodes 2 --watch -- echo hello": JOB,
    "trainshed job submit TrainCluster --nodes 2 --recipe collectives "
    "--set operation=all_gather": READY_JOBS,
    "trainshed job submit TrainCluster --recipe bert-340m": (
        "tests/offline/test_ready_jobs.py",
        '*("submit", "TrainCluster", "--recipe", "bert-340m"',
    ),
    "trainshed job submit TrainCluster --recipe health": READY_JOBS,
    "trainshed job watch health": READY_JOBS,
    "trainshed job watch pretrain": JOB,
    "trainshed job why large": JOB,
    "trainshed node drain TrainCluster i-0123456789abcdef0": (NODES, '"drain", "PlainCluster"'),
    "trainshed node undrain TrainCluster i-0123456789abcdef0": (NODES, '"undrain", "PlainCluster"'),
    "trainshed node reboot TrainCluster i-0123456789abcdef0": (NODES, '"reboot", "PlainCluster"'),
    "trainshed node replace TrainCluster i-0123456789abcdef0": (NODES, '"replace", "PlainCluster"'),
    "trainshed teardown TrainCluster": (
        "tests/offline/test_teardown.py",
        '"TrainCluster", "--yes"',
    ),
    "pip install -e ./embedded-aws -e .": (MAKEFILE, "-e embedded-aws -e ."),
    "pip install PATH/TO/embedded-aws": (WHEELS, 'ROOT / "embedded-aws"'),
    "python3 -m venv .venv && source .venv/bin/activate": (INSTALL, "documented_commands("),
    "mkdir -p my-training/wheels && cd my-training": (INSTALL, "documented_commands("),
    "cp CHECKOUT/dist/*.whl wheels/": (INSTALL, "documented_commands("),
    "pip install --no-deps wheels/*.whl": (INSTALL, "documented_commands("),
    "trainshed init --type trn1.32xlarge --region us-west-2": (INSTALL, "documented_commands("),
    "pip install -r requirements.txt && npm ci": (INSTALL, "documented_commands("),
    "pytest": ("src/trainshed/project/template/dot-github/workflows/test.yml", "run: pytest"),
    "pip install -r CHECKOUT/requirements/runtime.txt": (INSTALL, "documented_commands("),
    "npm install @aws-sdk/client-s3 @aws-sdk/client-ec2": (MAKEFILE, "npm ci"),
    "trainshed upgrade --to wheels-0.2.0": (UPGRADE, '"trainshed", "upgrade", "--to"'),
}
# Pages whose commands are of one shell, with the CDK CLI; of the others each command stands alone.
FOREIGN_APP, GUIDE = "embedded-aws/README.md", "embedded-aws/docs/guide.md"
OUR_APP = ("docs/container-images.md", "docs/offline.md")
DAY_TWO = "docs/day-two.md"
MISTAKES, REGION = "npx cdk deploy TrainCluster", "export AWS_REGION=us-west-2"
# They find what they are shown for: a withdrawn type, and a network that is slow.
FINDING = (
    "trainshed check",
    "trainshed bench judge examples/all-reduce.log --type dl1.24xlarge --nodes 4 "
    "--plot all-reduce.svg",
)
# Fails as the fault that the guide shows says.
LAUNCH = """python -c 'import boto3; boto3.client("ec2").run_instances(ImageId="ami-0", MinCount=1,
MaxCount=1, Placement={"AvailabilityZone": "us-west-2a"})' |& grep InsufficientInstanceCapacity"""

# The documents name a Capacity Block that somebody has bought.
BLOCK = "cr-0123456789abcdef0"
BUY = """BLOCK=$(python -c 'import boto3; ec2 = boto3.client("ec2")
[offering, *_] = ec2.describe_capacity_block_offerings(
    InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=24)["CapacityBlockOfferings"]
print(ec2.purchase_capacity_block(
    CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
)["CapacityReservation"]["CapacityReservationId"])')"""


EXAMPLES = examples()
HERE: dict[str, Example] = {}
# The README last: most of its commands are those of a page, which may need what comes before them.
for example in sorted(EXAMPLES, key=lambda each: each.page == "README.md"):
    if one_line(example.command) not in ELSEWHERE:
        HERE.setdefault(one_line(example.command), example)


def of(*pages: str) -> list[str]:
    return [example.command for example in HERE.values() if example.page in pages]


ALONE = [
    name
    for name, it in HERE.items()
    if it.page not in (FOREIGN_APP, GUIDE, DAY_TWO, *OUR_APP) and name not in (MISTAKES, REGION)
]


def test_commands_stand_in_console_blocks() -> None:
    assert EXAMPLES
    assert unmarked() == [], "call the block console, and begin each command with '$ '"


def test_no_row_of_the_table_is_left_over() -> None:
    assert set(ELSEWHERE) - {one_line(example.command) for example in EXAMPLES} == set()


def documented_in(source: str) -> set[str]:
    """Return the commands that a test asks `documented` for."""
    return {
        ast.literal_eval(call.args[0])
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "documented"
    }


@pytest.mark.parametrize("command", ELSEWHERE)
def test_a_command_is_where_the_table_says(command: str) -> None:
    match ELSEWHERE[command]:
        case str(file):
            assert command in documented_in((ROOT / file).read_text(encoding="utf-8"))
        case file, words:
            assert words in (ROOT / file).read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What of a checkout its commands read."""
    for name in ("clusters", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    (tmp_path / "training.yaml").write_text(json.dumps(template))
    return tmp_path


@pytest.fixture
def account(
    trainshed: Command,
    clean_aws: EmbeddedAws,
    publish_ami: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An AWS that takes TrainCluster; both channels have had two AMIs. `trainshed` is led there."""
    clean_aws.lead_here(monkeypatch)
    clean_aws.grant_quota(TRN_QUOTA, 16 * 128)
    clean_aws.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="21", Type="String"
    )
    for channel in ("candidate", "stable", "candidate", "stable"):
        publish_ami(clean_aws, channel=channel)


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("command", ALONE)
def test_a_command_that_stands_alone(
    trainshed: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(checkout)
    program, *arguments = shlex.split(command)
    assert program == "trainshed", f"run {command!r} in a test, or say in ELSEWHERE which does"

    answer = trainshed(*arguments)

    assert answer.code == int(command in FINDING), answer.out + answer.err


def test_the_messages_about_mistakes_are_those_that_are_shown(
    trainshed: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout)
    cluster = Path("clusters/train.yaml")
    text = cluster.read_text().replace("trn1.32xlarge", "trn1.32xl").replace("4800", "5000")
    cluster.write_text(text)

    answer = trainshed("explain", "train")

    [shown] = [each.output for each in EXAMPLES if each.command == MISTAKES and each.output]
    assert answer.err.splitlines() == shown.strip().splitlines()


def bash(commands: Sequence[str], folder: Path, assembly: str) -> None:
    """Run commands in one shell that has the CDK CLI, but neither an account nor a terminal.

    The CLI reads a cloud assembly, because running the app at each command takes seconds.
    """
    settings = {"app": assembly, "requireApproval": "never", "versionReporting": False}
    (folder / "cdk.json").write_text(json.dumps(settings))
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    kept |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    kept |= {
        "AWS_MAX_ATTEMPTS": "1",
        "NPM_CONFIG_OFFLINE": "true",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = ["trap 'embedded-aws down' EXIT", *commands]
    done = subprocess.run(
        ["bash", "-exc", "\n".join(script)], cwd=folder, env=kept, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_commands_with_a_foreign_cdk_app(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path / "cdk.out"))
    sns.Topic(cdk.Stack(app, "Foreign"), "Topic")
    app.synth()
    *commands, down = of(FOREIGN_APP)
    guide = [each.replace(BLOCK, "'\"$BLOCK\"'") for each in of(GUIDE)]
    faults = [REGION, BUY, *guide, LAUNCH] if shutil.which("curl") else []

    bash([*commands, *faults, down], tmp_path, "cdk.out")

    assert down == "embedded-aws down"


def test_the_commands_with_our_cdk_app(checkout: Path, synthesise: Callable[..., Path]) -> None:
    assembly = synthesise(load_fleet([checkout / "clusters/train.yaml"]))
    # TrainCluster itself takes long; it is deployed by tests/offline/test_project.py.
    commands = [
        command.replace("cdk deploy TrainCluster", "cdk deploy TrainPrerequisites")
        for page in OUR_APP[::-1]
        for command in of(page)
    ]
    commands.sort(key="trainshed container list TrainCluster".__eq__)  # after its deployment

    bash(commands, checkout, str(assembly))


def test_a_day_with_a_cluster(checkout: Path) -> None:
    commands = [example.command for example in EXAMPLES if example.page == DAY_TWO]
    if not shutil.which("aws"):
        commands = [each for each in commands if not each.startswith("aws ")]

    bash(commands, checkout, f"python3 {shlex.quote(str(ROOT / 'app.py'))}")

    there = (ROOT / "clusters/train.yaml").read_text(encoding="utf-8")
    assert (checkout / "clusters/train.yaml").read_text(encoding="utf-8") == there
