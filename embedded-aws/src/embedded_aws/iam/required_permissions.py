"""Which permissions an API call needs: IAM's actions, on which resources.

Service Authorization Reference, which cfn-lint carries as data: a service's actions, the types of
resource that each acts on, the format of their ARNs. It does not say which parameters name the
resource; most are called as the type is. EC2 user guide, "Grant permission to tag Amazon EC2
resources during creation". CloudWatch Logs user guide: the ARN of a log group, for an action on it,
goes on with `:log-stream:`. Inferred: the version or label of a parameter is no part of its ARN.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from moto.backends import get_backend
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE

from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.s3_permissions import s3_permissions
from embedded_aws.ssm.targets import matching

# Operations that need other actions than those of their own names.
_ACTIONS = {
    ("batch", "CancelJobs"): ("CancelJob",),
    ("batch", "TerminateJobs"): ("TerminateJob",),
    ("kms", "ReEncrypt"): ("ReEncryptFrom", "ReEncryptTo"),
    ("lambda", "GetLayerVersionByArn"): ("GetLayerVersion",),
    ("lambda", "Invoke"): ("InvokeFunction",),
    ("lambda", "InvokeWithResponseStream"): ("InvokeFunction",),
    ("sns", "PublishBatch"): ("Publish",),
    ("sqs", "ChangeMessageVisibilityBatch"): ("ChangeMessageVisibility",),
    ("sqs", "DeleteMessageBatch"): ("DeleteMessage",),
    ("sqs", "SendMessageBatch"): ("SendMessage",),
    # AWS answers it whatever the policies say.
    ("sts", "GetCallerIdentity"): (),
    # STS API reference: no permissions are required.
    ("sts", "GetSessionToken"): (),
}
# Parameters that name a resource of a type, where they are not called as the type is.
_PARAMETERS = {
    ("batch", "job"): ("jobid", "jobs"),
    ("ec2", "group"): ("hostresourcegrouparn",),
    ("ec2", "security-group"): ("groupid", "groupids", "securitygroupids", "groups"),
    ("ec2", "key-pair"): ("keyname", "keynames", "keypairids"),
    ("eks", "access-entry"): ("principalarn", "resourcearn"),
    ("eks", "cluster"): ("clustername", "name", "resourcearn"),
    ("eks", "podidentityassociation"): ("associationid", "resourcearn"),
    ("elasticfilesystem", "access-point"): ("accesspointid", "resourceid"),
    ("elasticfilesystem", "file-system"): ("filesystemid", "mounttargetid", "resourceid"),
    ("events", "rule-on-default-event-bus"): ("name", "rule"),
    ("servicequotas", "quota"): ("quotacode",),
    ("ssm", "document"): ("documentname", "name"),
    ("ssm", "instance"): ("instanceid", "instanceids", "target"),
    ("ssm", "parameter"): ("name", "names", "path"),
}
_SUFFIXES = ("", "s", "id", "ids", "name", "names", "arn", "arns", "identifier", "url")
# What is around the name in an ARN, beside what the ARNs of the type begin with.
_AROUND_NAME = {
    ("autoscaling", "autoscalinggroup"): "*:autoScalingGroupName/{}",
    ("cloudformation", "stack"): "{}/*",
    ("logs", "log-group"): "{}:log-stream:",
}
# What is made beside what operations name that begin with Create.
_MADE = {
    "CreateImage": ("snapshot",),
    "RunInstances": ("instance", "network-interface", "volume"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What a policy must allow.

    Attributes:
        action: for instance `s3:GetObject`.
        resources: ARNs, one of which must be allowed.
        call: the call that needs it, or the one that a service makes along with it.
    """

    action: str
    resources: tuple[str, ...]
    call: ApiCall


def required_permissions(call: ApiCall) -> Iterator[Permission]:
    """Yield the permissions that a call needs."""
    if call.service == "s3":
        for action, arn in s3_permissions(call):
            yield Permission(action=action, resources=(arn,), call=call)
        return
    for name in _ACTIONS.get((call.service, call.operation), (call.operation,)):
        action = f"{call.service}:{name}"
        types = _reference(call.service, "Actions").get(name.lower(), {}).get("Resources", ())
        formats = {each.lower(): _format(call, each) for each in types}
        if named := {arn for each in formats for arn in _named(call, each, formats[each])}:
            for arn in sorted(named):
                yield Permission(action=action, resources=(arn,), call=call)
        else:
            patterns = tuple(f"{start}*" for start in formats.values())
            yield Permission(action=action, resources=patterns or ("*",), call=call)
    if call.service == "ec2":
        yield from _tagging(call)


def _tagging(call: ApiCall) -> Iterator[Permission]:
    """Yield the permissions to tag what a call of EC2 makes."""
    specifications = list(call.params.get("TagSpecifications", ()))
    # EC2 user guide, "Grant permissions to copy Amazon EC2 AMIs".
    if call.params.get("CopyImageTags"):
        specifications.append({"ResourceType": "image"})
    for given in specifications:
        made = {"CreateAction": call.operation, "Tags": given.get("Tags", [])}
        start = _format(call, given["ResourceType"])
        yield Permission(
            action="ec2:CreateTags",
            resources=(f"{start}*",),
            call=replace(call, operation="CreateTags", params=made),
        )


def _named(call: ApiCall, kind: str, start: str) -> Iterator[str]:
    """Yield the ARNs of the resources of a type that a call names or makes.

    Args:
        call: the call.
        kind: the type, for instance `log-group`.
        start: how the ARNs of the type begin.
    """
    plain = kind.replace("-", "").replace(" ", "")
    default = (*(plain + suffix for suffix in _SUFFIXES), "resourcearn")
    names = call.values(*_PARAMETERS.get((call.service, kind), default))
    if read := _READ.get((call.service, kind)):
        names = read(call, names)
    for name in names:
        if name.startswith("arn:"):
            yield name
        else:
            own = name.rsplit("/", 1)[-1] if "://" in name else name
            if start.endswith("/"):
                own = own.removeprefix("/")
            yield start + _AROUND_NAME.get((call.service, kind), "{}").format(own)
    made = call.operation.removeprefix("Create").lower()
    if call.service == "ec2":
        if not names and (plain == made or kind in _MADE.get(call.operation, ())):
            yield f"{start}*"
        if call.operation in ("CreateTags", "DeleteTags"):
            for name in call.values("resources"):
                if EC2_PREFIX_TO_RESOURCE.get(name.rpartition("-")[0]) == kind:
                    yield f"{start}{name}"


def _streams(call: ApiCall, names: list[str]) -> list[str]:
    group = "".join(call.values("loggroupname"))
    return [f"{group}:log-stream:{name}" for name in names]


def _in_cluster(call: ApiCall, names: list[str]) -> list[str]:
    """Return what is in a cluster of EKS as its ARN has it, which ends in an id for most."""
    cluster = [*call.values("clustername"), *call.values("name"), "*"][0]
    return [name if ":eks:" in name else f"{cluster}/{_own_name(name)}*" for name in names]


def _node_groups(call: ApiCall, names: list[str]) -> list[str]:
    """Return the ARNs of node groups, as a policy may name them; of others as `_in_cluster`."""
    # EKS's own rows, by ARN, which this module cannot import: EKS imports IAM.
    backend: Any = get_backend("eks")[call.account][call.region]
    rows: Mapping[str, Any] = vars(backend).get("embedded_aws_nodegroups", {})
    known = {(row["clusterName"], row["nodegroupName"]): arn for arn, row in rows.items()}
    cluster = [*call.values("clustername"), ""][0]
    return [known.get((cluster, name)) or _in_cluster(call, [name])[0] for name in names]


def _own_name(name: str) -> str:
    """Return a name in a cluster; that of an access entry begins with its principal."""
    if not name.startswith("arn:"):
        return name
    _, _, _, _, account, principal = name.split(":")
    return f"{principal.partition('/')[0]}/{account}/{principal.rpartition('/')[2]}/"


def _access_points(call: ApiCall, names: list[str]) -> list[str]:
    """Return access points alone, as TagResource names file systems in the same place."""
    return [name for name in names if "fsap-" in name]


def _file_systems(call: ApiCall, names: list[str]) -> list[str]:
    """Return file systems, in place of a mount target its own one."""
    # Not as moto has them: rows as DescribeMountTargets returns them.
    targets: Any = get_backend("efs")[call.account][call.region].mount_targets_by_id
    own = [targets[name]["FileSystemId"] if name in targets else name for name in names]
    return [name for name in own if "fs-" in name]


def _keys(call: ApiCall, names: list[str]) -> list[str]:
    """Return the ARNs of keys, some of which are named by an alias."""
    backend = get_backend("kms")[call.account][call.region]
    ids = [
        (backend.get_key_id_from_alias(name) if name.startswith("alias/") else None) or name
        for name in names
    ]
    return [backend.keys[each].arn if each in backend.keys else each for each in ids]


def _parameters(call: ApiCall, names: list[str]) -> list[str]:
    """Return the ARNs of AWS's public parameters, which have no account, and others' names."""
    # A version or a label may follow the name.
    plain = [name if name.startswith("arn:") else name.partition(":")[0] for name in names]
    public = f"arn:aws:ssm:{call.region}::parameter"
    return [f"{public}{name}" if name.startswith("/aws/") else name for name in plain]


def _secrets(call: ApiCall, names: list[str]) -> list[str]:
    """Return the ARNs of secrets, which end in random letters; names of others as they are."""
    secrets = get_backend("secretsmanager")[call.account][call.region].secrets
    return [secrets[name].arn if name in secrets else name for name in names]


def _quotas(call: ApiCall, names: list[str]) -> list[str]:
    """Return quotas as their ARNs have them: `ec2/L-2C3B7624`."""
    return [f"{service}/{name}" for service in call.values("servicecode") for name in names]


def _documents(call: ApiCall, names: list[str]) -> list[str]:
    """Return the ARNs of AWS's own documents, which have no account, and others' names."""
    public = f"arn:aws:ssm:{call.region}::document/"
    return [f"{public}{name}" if name.startswith("AWS-") else name for name in names]


def _commanded(call: ApiCall, names: list[str]) -> list[str]:
    """Return the instances that a command names, or its targets mean."""
    instances = get_backend("ec2")[call.account][call.region].all_instances()
    targets = call.params.get("Targets", [])
    return [each.id for each in matching(instances, targets)] if targets else names


_READ: Mapping[tuple[str, str], Callable[[ApiCall, list[str]], list[str]]] = {
    ("eks", "access-entry"): _in_cluster,
    ("eks", "addon"): _in_cluster,
    ("eks", "nodegroup"): _node_groups,
    ("eks", "podidentityassociation"): _in_cluster,
    ("elasticfilesystem", "access-point"): _access_points,
    ("elasticfilesystem", "file-system"): _file_systems,
    ("kms", "key"): _keys,
    ("logs", "log-stream"): _streams,
    ("secretsmanager", "secret"): _secrets,
    ("servicequotas", "quota"): _quotas,
    ("ssm", "document"): _documents,
    ("ssm", "instance"): _commanded,
    ("ssm", "parameter"): _parameters,
}


def _format(call: ApiCall, kind: str) -> str:
    """Return how the ARNs of a type of resource begin."""
    types = _reference(call.service, "Resources")
    [pattern, *_] = types.get(kind.lower(), {"ARNFormats": [".*"]})["ARNFormats"]
    start: str = pattern.removesuffix(".*").replace(".*", "*")
    for name, value in (("Partition", "aws"), ("Region", call.region), ("Account", call.account)):
        start = start.replace(f"${{{name}}}", value)
    return start


def _reference(service: str, part: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = whole_reference().get(service, {}).get(part, {})
    return found


@cache
def whole_reference() -> Mapping[str, Any]:
    """Return the actions and resources of each service, as cfn-lint carries them."""
    # Importing cfn-lint would load all of its rules.
    spec = find_spec("cfnlint")
    assert spec and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    whole: dict[str, Any] = json.loads(
        (folder / "data" / "AdditionalSpecs" / "Policies.json").read_text()
    )
    return whole
