"""ECR's templates for repositories that it makes itself, which moto does not have.

ECR API reference and user guide "Templates to control repositories created during a pull through
cache, create on push, or replication action": one template for each prefix; encryption with KMS and
tags need a role of your own. Inferred: the exact words. No repository is ever made from a template
here.
"""

import json
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing, table

# A template, as DescribeRepositoryCreationTemplates returns it.
Template = dict[str, Any]

_templates = table("ecr", "repository_creation_templates")


@action("ecr", "CreateRepositoryCreationTemplate")
def create_repository_creation_template(call: Call) -> dict[str, Any]:
    """Create a template."""
    prefix = call.params["prefix"]
    if prefix in _templates(call):
        raise Refusal(
            "TemplateAlreadyExistsException",
            f"The repository creation template with prefix '{prefix}' already exists in the "
            f"registry with id '{call.account}'",
        )
    template = {
        "createdAt": datetime.now(UTC),
        "encryptionConfiguration": {"encryptionType": "AES256"},
        "imageTagMutability": "MUTABLE",
    }
    return _put(call, template)


@action("ecr", "UpdateRepositoryCreationTemplate")
def update_repository_creation_template(call: Call) -> dict[str, Any]:
    """Change what the call names."""
    return _put(call, dict(_find(call)))


@action("ecr", "DescribeRepositoryCreationTemplates")
def describe_repository_creation_templates(call: Call) -> dict[str, Any]:
    """Describe the templates of the named prefixes, or all."""
    named = call.params.get("prefixes")
    found = [
        template
        for prefix, template in sorted(_templates(call).items())
        if named is None or prefix in named
    ]
    return {"registryId": call.account, "repositoryCreationTemplates": found}


@action("ecr", "DeleteRepositoryCreationTemplate")
def delete_repository_creation_template(call: Call) -> dict[str, Any]:
    """Delete a template; repositories that were made from it stay as they are."""
    template = _find(call)
    del _templates(call)[template["prefix"]]
    return {"registryId": call.account, "repositoryCreationTemplate": template}


def _find(call: Call) -> Template:
    prefix = call.params["prefix"]
    return existing(
        _templates(call).get(prefix),
        "TemplateNotFoundException",
        f"The repository creation template with prefix '{prefix}' does not exist in the "
        f"registry with id '{call.account}'",
    )


def _put(call: Call, template: Template) -> dict[str, Any]:
    """Keep a template with the call's settings, after checking them."""
    template |= {**call.params, "updatedAt": datetime.now(UTC)}
    needs_role = template["encryptionConfiguration"]["encryptionType"] != "AES256"
    if (needs_role or template.get("resourceTags")) and not template.get("customRoleArn"):
        raise _refused("customRoleArn", "is required for KMS encryption and for resource tags")
    for name in ("lifecyclePolicy", "repositoryPolicy"):
        try:
            json.loads(template.get(name) or "{}")
        except json.JSONDecodeError as error:
            raise _refused(name, f"must be JSON: {error}") from error
    _templates(call)[template["prefix"]] = template
    return {"registryId": call.account, "repositoryCreationTemplate": template}


def _refused(parameter: str, why: str) -> Refusal:
    return Refusal(
        "InvalidParameterException",
        f"Invalid parameter at '{parameter}' failed to satisfy constraint: '{why}'",
    )
