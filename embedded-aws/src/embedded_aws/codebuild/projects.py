"""CodeBuild projects; moto can create but not update them.

CodeBuild API reference and user guide: which sources have a location; the words about a role that
CodeBuild may not assume. Inferred: the other words. Whether a connection exists and reaches the
repository is not checked: the embedded AWS has no connections. A build that is started runs
nothing.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.constraints import checks_arguments
from embedded_aws.iam.roles import can_assume

checks_arguments("codebuild", "InvalidInputException")

# A project, as BatchGetProjects returns it.
Project = dict[str, Any]

_CONNECTION = re.compile(
    r"arn:aws[a-z-]*:(codeconnections|codestar-connections):[a-z0-9-]+:[0-9]{12}:connection/[0-9a-f-]+"
)
_DEFAULTS: Mapping[str, Any] = {
    "cache": {"type": "NO_CACHE"},
    "projectVisibility": "PRIVATE",
    "queuedTimeoutInMinutes": 480,
    "timeoutInMinutes": 60,
}
# Parameters of moto's project that its builds do not need.
_UNUSED = (
    *("cache", "description", "logs_config", "queued_timeout", "source_version", "tags"),
    *("timeout", "vpc_config"),
)
_WITHOUT_LOCATION = ("CODEPIPELINE", "NO_SOURCE")


@action("codebuild", "CreateProject")
def create_project(call: Call) -> dict[str, Any]:
    """Create a project."""
    name, backend = call.params["name"], call.backend("codebuild")
    arn = call.arn("codebuild", f"project/{name}")
    if name in backend.codebuild_projects:
        raise Refusal("ResourceAlreadyExistsException", f"Project already exists: {arn}")
    key = call.arn("kms", "alias/aws/s3")
    new = {**_DEFAULTS, "arn": arn, "created": datetime.now(UTC), "encryptionKey": key}
    project = _checked(call, {**new, **call.params})
    # moto's own object, which its builds need.
    backend.create_project(
        project_name=name,
        project_source=project["source"],
        artifacts=project["artifacts"],
        environment=project["environment"],
        service_role=project["serviceRole"],
        **dict.fromkeys(_UNUSED),
    )
    backend.codebuild_projects[name].project_metadata = project
    return {"project": project}


@action("codebuild", "UpdateProject")
def update_project(call: Call) -> dict[str, Any]:
    """Change what the call names."""
    project = find_project(call, call.params["name"])
    project.update(_checked(call, {**project, **call.params}))
    return {"project": project}


def find_project(call: Call, name: str) -> Project:
    """Return a project of the account and region.

    Raises:
        Refusal: there is none of this name.
    """
    projects = call.backend("codebuild").codebuild_projects
    if name not in projects:
        raise Refusal(
            "ResourceNotFoundException",
            f"Project cannot be found: {call.arn('codebuild', f'project/{name}')}",
        )
    found: Project = projects[name].project_metadata
    return found


def _checked(call: Call, project: Project) -> Project:
    for problem in (
        *_source_faults(project["source"]),
        *_artifact_faults(project["artifacts"]),
        *_role_faults(call, project["serviceRole"]),
        *_limit_faults(project),
    ):
        raise refused(problem)
    return {**project, "lastModified": datetime.now(UTC)}


def _source_faults(source: Mapping[str, Any]) -> Iterator[str]:
    kind, location = source["type"], source.get("location", "")
    if kind in _WITHOUT_LOCATION:
        if location:
            yield f"Project source location must be empty for source type {kind}"
        if kind == "NO_SOURCE" and not source.get("buildspec"):
            yield "Buildspec is required when source type is NO_SOURCE"
    elif not location:
        yield "Project source location is required"
    elif kind == "GITHUB" and not location.startswith("https://github.com/"):
        yield f"Invalid GitHub repository URL: {location}"
    auth = source.get("auth", {})
    if auth.get("type") == "CODECONNECTIONS" and not _CONNECTION.fullmatch(
        auth.get("resource", "")
    ):
        yield f"Invalid connection ARN: {auth.get('resource', '')}"


def _artifact_faults(artifacts: Mapping[str, Any]) -> Iterator[str]:
    if artifacts["type"] == "S3" and not artifacts.get("location"):
        yield "Project artifacts location is required for artifacts type S3"
    if artifacts["type"] == "NO_ARTIFACTS" and artifacts.get("location"):
        yield "Invalid artifacts: artifact type NO_ARTIFACTS should have null location"


def _role_faults(call: Call, arn: str) -> Iterator[str]:
    if not can_assume(call, "codebuild.amazonaws.com", arn):
        yield f"CodeBuild is not authorized to perform: sts:AssumeRole on {arn}"


def _limit_faults(project: Project) -> Iterator[str]:
    # -1 removes the limit, as UpdateProject documents.
    if (limit := project.get("concurrentBuildLimit", 1)) < 1 and limit != -1:
        yield f"Invalid concurrentBuildLimit {limit}: must be greater than 0"


def refused(message: str) -> Refusal:
    """Return the refusal of a call."""
    return Refusal("InvalidInputException", message)
