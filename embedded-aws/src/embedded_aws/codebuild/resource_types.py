"""CodeBuild projects."""

from collections.abc import Mapping
from functools import partial

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.tags import Tagging, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource

_tags = partial(tag_list, key="key", value="value")


@resource("AWS::CodeBuild::Project")
class BuildProject(Handler):
    """A project and its webhook; its Ref is the project's name."""

    service = "codebuild"
    target, name, name_limit = "name", "Name", 150
    creation = "CreateProject", "Name"
    reading = "BatchGetProjects", "projects"
    deletion = "DeleteProject"
    later = ("Triggers",)
    attributes = {"Arn": "arn"}
    tagging = Tagging(target="name", form=_tags)
    changing = "UpdateProject"
    defaults = {
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

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Triggers"):
            return
        codebuild = request.client("codebuild")
        triggers = request.properties.get("Triggers", {})
        if not triggers.get("Webhook"):
            with forgiving():
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
