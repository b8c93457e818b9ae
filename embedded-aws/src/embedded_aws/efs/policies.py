"""What is set of a file system apart: its lifecycle configuration, its backups, its policy.

EFS API reference: a policy object has one transition, and each transition is set once; Archive
comes later than Infrequent Access, and needs elastic throughput and general purpose; no policy for
Infrequent Access or Archive means that files stay; a file system policy is a resource-based policy
that does not lock its caller out. The words of a malformed policy object:
github.com/cloudposse/terraform-aws-efs/issues/103.
"""

import json
import re
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing
from embedded_aws.backup.recovery_points import take_due
from embedded_aws.efs.calls import bad_request
from embedded_aws.efs.file_systems import FileSystem, find
from embedded_aws.iam.policy_evaluation import denies
from embedded_aws.iam.service_principals import statements_of

_LOCKING = "elasticfilesystem:PutFileSystemPolicy"


@action("efs", "PutLifecycleConfiguration")
def put_lifecycle_configuration(call: Call) -> dict[str, Any]:
    """Set when files move to other storage classes; no policies end it."""
    found, policies = find(call, call.params["FileSystemId"]), call.params["LifecyclePolicies"]
    names = [name for policy in policies for name in policy]
    if any(len(policy) != 1 for policy in policies) or len(names) != len(set(names)):
        raise bad_request("One or more LifecyclePolicy objects specified are malformed.")
    set_to = {name: when for policy in policies for name, when in policy.items()}
    _check_archive(found, set_to)
    found.lifecycle = list(policies)
    return {"LifecyclePolicies": found.lifecycle}


def _check_archive(file_system: FileSystem, set_to: dict[str, str]) -> None:
    if "TransitionToArchive" not in set_to:
        return
    row = file_system.row
    if row["ThroughputMode"] != "elastic" or row["PerformanceMode"] != "generalPurpose":
        raise bad_request(
            "The Archive storage class is available only for file systems that use the Elastic "
            "throughput mode and the General Purpose performance mode."
        )
    ia = set_to.get("TransitionToIA")
    if ia and _days(set_to["TransitionToArchive"]) <= _days(ia):
        raise bad_request("TransitionToArchive must be later than TransitionToIA.")


def _days(after: str) -> int:
    return int("".join(re.findall(r"\d", after)))


@action("efs", "DescribeLifecycleConfiguration")
def describe_lifecycle_configuration(call: Call) -> dict[str, Any]:
    """Return the lifecycle configuration."""
    return {"LifecyclePolicies": find(call, call.params["FileSystemId"]).lifecycle}


@action("efs", "PutBackupPolicy")
def put_backup_policy(call: Call) -> dict[str, Any]:
    """Turn automatic backups on or off, at once."""
    found, status = find(call, call.params["FileSystemId"]), call.params["BackupPolicy"]["Status"]
    if status not in ("ENABLED", "DISABLED"):
        raise bad_request(f"A backup policy cannot be set to {status}.")
    take_due(call)
    found.backup = status
    return {"BackupPolicy": {"Status": status}}


@action("efs", "DescribeBackupPolicy")
def describe_backup_policy(call: Call) -> dict[str, Any]:
    """Return whether automatic backups are on."""
    return {"BackupPolicy": {"Status": find(call, call.params["FileSystemId"]).backup}}


@action("efs", "PutFileSystemPolicy")
def put_file_system_policy(call: Call) -> dict[str, Any]:
    """Set the policy of a file system."""
    found, text = find(call, call.params["FileSystemId"]), call.params["Policy"]
    try:
        policy = json.loads(text)
        statements = statements_of(policy)
        whole = all("Principal" in it and "Action" in it for it in statements)
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise _invalid("is not a policy in JSON") from error
    if not statements or not whole:
        raise _invalid("has a statement without Principal or Action")
    if not all(_is_about(found, it.get("Resource", "*")) for it in statements):
        raise _invalid("has a Resource that is not this file system")
    if not call.params.get("BypassPolicyLockoutSafetyCheck") and _locks_out(found, statements):
        raise _invalid(f"would not allow the caller to call {_LOCKING} again")
    found.policy = text
    return {"FileSystemId": found.file_system_id, "Policy": text}


def _is_about(file_system: FileSystem, resource: Any) -> bool:
    named = [resource] if isinstance(resource, str) else resource
    return set(named) <= {"*", file_system.file_system_arn}


def _locks_out(file_system: FileSystem, statements: list[Any]) -> bool:
    """Whether a statement without a condition denies everybody to change the policy."""
    for_all = [
        {"Resource": "*", **it}
        for it in statements
        if it["Principal"] in ("*", {"AWS": "*"}) and not it.get("Condition")
    ]
    return denies([{"Statement": for_all}], _LOCKING, file_system.file_system_arn, lambda key: [])


def _invalid(what: str) -> Refusal:
    return Refusal("InvalidPolicyException", f"The file system policy {what}.")


@action("efs", "DescribeFileSystemPolicy")
def describe_file_system_policy(call: Call) -> dict[str, Any]:
    """Return the policy that was set."""
    found = find(call, call.params["FileSystemId"])
    policy = existing(
        found.policy, "PolicyNotFound", f"File system '{found.file_system_id}' has no policy."
    )
    return {"FileSystemId": found.file_system_id, "Policy": policy}


@action("efs", "DeleteFileSystemPolicy")
def delete_file_system_policy(call: Call) -> dict[str, Any]:
    """Return to the default policy."""
    find(call, call.params["FileSystemId"]).policy = None
    return {}
