"""`trainshed orphans` in a project with a cluster, and what runs the commands that it prints."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name
from command_line import Answer, runner
from protected_stacks import deploy_protected

from embedded_aws.embedded import EmbeddedAws
from trainshed.cli import main
from trainshed.plan import load_fleet

HEAD = "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge, nodes: {max: 4}}\n"
_CLIENTS = {"s3api": "s3"}


class Project:
    """A project with a cluster file, and what its commands do in an account."""

    def __init__(
        self,
        aws: EmbeddedAws,
        folder: Path,
        synthesise: Callable[..., Path],
        trainshed: Callable[..., Answer],
    ) -> None:
        self.aws = aws
        self.file = folder / "clusters" / "train.yaml"
        self.trainshed = trainshed
        self._synthesise = synthesise
        self.file.parent.mkdir()
        self.describe("")

    def describe(self, more: str) -> None:
        """Write the cluster file, with some more fields."""
        self.file.write_text(HEAD + more)

    def deploy(self, *stacks: str) -> None:
        """Deploy stacks of the cluster, protected as the CDK CLI does it."""
        deploy_protected(self.aws, self._synthesise(load_fleet([self.file])), stacks)

    def orphans(self) -> Mapping[str, list[dict[str, Any]]]:
        """Return what the command finds; its exit code must fit that."""
        done = self.trainshed("orphans", "--region", "us-west-2", "--json")
        found: Mapping[str, list[dict[str, Any]]] = json.loads(done.out)
        assert done.code == (1 if any(found.values()) else 0), done.err
        return found

    def run(self, command: str) -> None:
        """Run a command of the AWS CLI, by the same names of boto3."""
        for step in command.split(" && "):
            program, service, operation, *words = shlex.split(step)
            assert program == "aws"
            client = self.aws.client(_CLIENTS.get(service, service))
            if operation == "wait":
                name, *words = words
                waiter = client.get_waiter(name.replace("-", "_"))
                called, call = waiter.config.operation, waiter.wait
            else:
                name = operation.replace("-", "_")
                called, call = client.meta.method_to_api_mapping[name], getattr(client, name)
            members = client.meta.service_model.operation_model(called).input_shape.members
            call(**_parameters(words, members))


def _parameters(words: list[str], members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of boto3 for some options of the AWS CLI."""
    names = {xform_name(name, "-"): name for name in members}
    found: dict[str, Any] = {}
    for option, value in re.findall(r"--(\S+)(?: ((?!--)\S+))?", " ".join(words)):
        name = names.get(option.removeprefix("no-"), names.get(option))
        assert name, option
        if not value:
            found[name] = not option.startswith("no-")
        else:
            found[name] = [value] if members[name].type_name == "list" else value
    return found


@pytest.fixture
def project(
    clean_aws: EmbeddedAws,
    tmp_path: Path,
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Project:
    trainshed = runner("trainshed", main, capsys, monkeypatch)
    clean_aws.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    publish_ami(clean_aws)
    return Project(clean_aws, tmp_path, synthesise, trainshed)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the command, it is two days later."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=2)

    monkeypatch.setattr("trainshed.cli.orphans.datetime", Later)
