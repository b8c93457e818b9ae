"""A new service is a folder of the package, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from amis import AMAZON_LINUX
from botocore.exceptions import ClientError
from other_package import make_package

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

SERVICE = '''
"""Transcribe, whose vocabularies are named for what it heard."""

from pathlib import Path

from embedded_aws.actions import action
from embedded_aws.constraints import checks_arguments
from embedded_aws.hooks import (
    when_account_made,
    when_faults_changed,
    when_instance_ended,
    when_loaded,
    when_serving,
    when_stopping,
    when_time_passed,
)
from embedded_aws.offered_controls import control, posted
from werkzeug import Response

heard = []
checks_arguments("transcribe", "BadRequestException")


@action("transcribe", "ListVocabularies")
def list_vocabularies(call):
    return {"Vocabularies": [{"VocabularyName": each} for each in heard]}


@when_account_made
def make(account, region):
    heard.append(f"made {account} in {region}")


@when_loaded
def load():
    heard.append("loaded")


@when_serving
def start(process):
    heard.append(f"serving {process.settings.regions[0]}")


@when_stopping
def stop():
    Path(__file__).with_name("stopped").touch()


@when_instance_ended
def end(instance):
    heard.append(f"ended {instance.id}")


@when_faults_changed
def change():
    heard.append("faults changed")


@when_time_passed
def pass_time():
    heard.append("time passed")


@control("POST", "/_embedded-aws/words")
def add(request, settings):
    heard.append(posted(request))
    return Response(status=204)
'''
BEFORE_MOTO = '''
"""Says whether moto is there."""

import sys
from pathlib import Path


def start():
    if "moto" not in sys.modules:
        Path(__file__).with_name("before-moto").touch()
'''
INVENTORY = '''
"""Vocabularies in the inventory."""

from embedded_aws.inventory import Part, lists, row


@lists(Part.JOBS)
def vocabularies(client):
    for each in client("transcribe").list_vocabularies()["Vocabularies"]:
        yield row("vocabulary", each["VocabularyName"], "heard")
'''


@dataclass(frozen=True)
class Transcribe:
    """An embedded AWS with the new service."""

    aws: EmbeddedAws

    def heard(self) -> list[str]:
        found = self.aws.client("transcribe").list_vocabularies()["Vocabularies"]
        return [each["VocabularyName"] for each in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the new service."""
    with pytest.MonkeyPatch.context() as patch:
        folder = make_package(tmp_path_factory.mktemp("new-service"), patch) / "transcribe"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "service.py").write_text(SERVICE)
        (folder / "before_moto.py").write_text(BEFORE_MOTO)
        (folder / "inventory.py").write_text(INVENTORY)
        # Where a server runs, there may be no pytest.
        (folder / "fixtures.py").write_text("import no_such_module")
        yield folder


@pytest.fixture(scope="module")
def transcribe(folder: Path) -> Iterator[Transcribe]:
    server = start(ServerSettings(), log=folder / "server.log")
    yield Transcribe(EmbeddedAws(server))
    server.stop()


def test_its_arguments_are_checked(transcribe: Transcribe) -> None:
    with pytest.raises(ClientError, match="BadRequestException"):
        transcribe.aws.client("transcribe").list_vocabularies(MaxResults=101)


def test_it_is_started_with_the_server(transcribe: Transcribe) -> None:
    assert transcribe.heard()[:3] == [
        "made 123456789012 in us-west-2",
        "loaded",
        "serving us-west-2",
    ]


def test_it_starts_something_before_moto_is_loaded(transcribe: Transcribe, folder: Path) -> None:
    assert (folder / "before-moto").exists()


def test_it_hears_that_an_instance_ended(transcribe: Transcribe) -> None:
    ec2 = transcribe.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    launched = ec2.run_instances(ImageId=AMAZON_LINUX, SubnetId=subnet, MinCount=1, MaxCount=1)
    instance_id = launched["Instances"][0]["InstanceId"]

    ec2.terminate_instances(InstanceIds=[instance_id])

    assert transcribe.heard()[-1] == f"ended {instance_id}"


def test_it_hears_that_faults_changed(transcribe: Transcribe) -> None:
    transcribe.aws.fail(Fault(service="ec2", operation="RunInstances"))

    assert transcribe.heard()[-1] == "faults changed"


def test_it_hears_that_time_passed(transcribe: Transcribe) -> None:
    transcribe.aws.let_pass(hours=1)

    assert transcribe.heard()[-1] == "time passed"


def test_it_has_controls(transcribe: Transcribe) -> None:
    transcribe.aws.settings.controls.post("/_embedded-aws/words", "posted")

    assert transcribe.heard()[-1] == "posted"


def test_it_is_in_the_inventory(transcribe: Transcribe) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "embedded-aws", "inventory"],
        env=transcribe.aws.environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "serving us-west-2" in done.stdout


def test_it_is_stopped_when_the_server_is_killed(folder: Path) -> None:
    server = start(ServerSettings(), log=folder / "killed.log")
    serving = psutil.Process(server.process.pid).children()

    server.process.kill()
    psutil.wait_procs(serving)

    assert (folder / "stopped").exists()
    server.stop()
