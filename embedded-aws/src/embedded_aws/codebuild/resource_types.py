"""CodeBuild projects."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource

_GONE = "ResourceNotFoundException"


@resource("AWS::CodeBuild::Project")
class Project(Handler):
    """A project and its webhook; its Ref is the project's name."""

    service = "codebuild"
    gone = (_GONE,)
    # Other calls set these.
    fixed = ("ResourceAccessRole", "Visibility")

    _later = ("Name", "Tags", "Triggers")
    # Properties that UpdateProject keeps if they are left out, and their defaults.
    _defaults: Mapping[str, Any] = {
        "AutoRetryLimit": 0,
        "BadgeEnabled": False,
        "Cache": {"Type": "NO_CACHE"},
        "ConcurrentBuildLimit": -1,
        "Description": "",
        "FileSystemLocations": [],
        "LogsConfig": {},
        "QueuedTimeoutInMinutes": 480,
        "SecondaryArtifacts": [],
        "SecondarySources": [],
        "SecondarySourceVersions": [],
        "SourceVersion": "",
        "TimeoutInMinutes": 60,
        "VpcConfig": {},
    }

    def _create(self, request: Request) -> str:
        name = given_or_generated(request, "Name", limit=150)
        more = {"name": name, "tags": _tags(all_tags(request))}
        self._call(request, "CreateProject", request.properties, leave=self._later, **more)
        return name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        dropped = {name: value for name, value in self._defaults.items() if name in before}
        wanted = {**dropped, **request.properties}
        self._call(request, "UpdateProject", wanted, leave=self._later, name=physical_id)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Triggers"):
            return
        codebuild = request.client("codebuild")
        triggers = request.properties.get("Triggers", {})
        if not triggers.get("Webhook"):
            with forgiving(_GONE):
                codebuild.delete_webhook(projectName=physical_id)
            return
        wanted = present(triggers, "BuildType", "FilterGroups", "PullRequestBuildPolicy")
        exists = before.get("Triggers", {}).get("Webhook")
        operation = "UpdateWebhook" if exists else "CreateWebhook"
        self._call(request, operation, wanted, projectName=physical_id)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        # CodeBuild replaces the whole set.
        request.client("codebuild").update_project(name=physical_id, tags=_tags(tags))

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("codebuild").batch_get_projects(names=[physical_id])
        return {"Arn": reply["projects"][0]["arn"], "Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("codebuild").delete_project(name=physical_id)


def _tags(tags: Mapping[str, str]) -> list[Any]:
    return tag_list(tags, key="key", value="value")
