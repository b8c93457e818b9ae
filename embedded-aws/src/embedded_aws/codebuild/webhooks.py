"""Webhooks of CodeBuild projects, which moto does not have.

CodeBuild API reference and user guide: which sources have webhooks; each filter group has an EVENT
filter; the words about a GitHub repository without access. Inferred: the other words. No event ever
arrives here.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.codebuild.projects import Project, find_project, refused

_WITH_WEBHOOK = ("BITBUCKET", "GITHUB", "GITHUB_ENTERPRISE", "GITLAB", "GITLAB_SELF_MANAGED")


@action("codebuild", "CreateWebhook")
def create_webhook(call: Call) -> dict[str, Any]:
    """Create a webhook for a project."""
    project = find_project(call, call.params["projectName"])
    source = project["source"]
    if source["type"] not in _WITH_WEBHOOK:
        raise refused(f"Webhooks are not supported for sources of type {source['type']}")
    if "auth" not in source:
        # Documented: the error for an account without source credentials.
        raise refused(f"Could not find access token for server type {source['type'].lower()}")
    if "webhook" in project:
        raise Refusal(
            "ResourceAlreadyExistsException", f"Webhook of {project['name']} already exists"
        )
    webhook = {
        "url": f"https://api.github.com/repos/{source['location'].split('/', 3)[-1]}/hooks/1",
        "payloadUrl": f"https://codebuild.{call.region}.amazonaws.com/webhooks?t={project['name']}",
        "filterGroups": _filter_groups(call),
        "buildType": call.params.get("buildType", "BUILD"),
        "status": "ACTIVE",
    }
    project["webhook"] = webhook
    return {"webhook": webhook}


@action("codebuild", "UpdateWebhook")
def update_webhook(call: Call) -> dict[str, Any]:
    """Change which events start a build."""
    webhook: dict[str, Any] = _with_webhook(call)["webhook"]
    webhook["filterGroups"] = _filter_groups(call)
    webhook["buildType"] = call.params.get("buildType", webhook["buildType"])
    return {"webhook": webhook}


@action("codebuild", "DeleteWebhook")
def delete_webhook(call: Call) -> dict[str, Any]:
    """Delete a project's webhook."""
    del _with_webhook(call)["webhook"]
    return {}


def _with_webhook(call: Call) -> Project:
    project = find_project(call, call.params["projectName"])
    if "webhook" not in project:
        raise Refusal("ResourceNotFoundException", f"{project['name']} has no webhook")
    return project


def _filter_groups(call: Call) -> list[Any]:
    groups: list[Any] = call.params.get("filterGroups", [])
    for group in groups:
        if "EVENT" not in [each["type"] for each in group]:
            raise refused("A webhook filter group must have a filter of type EVENT")
    return groups
