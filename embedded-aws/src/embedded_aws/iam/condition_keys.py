"""The values of condition keys for a call.

IAM user guide, "AWS global condition context keys", and "Condition keys" in the Service
Authorization Reference.
"""

from collections.abc import Mapping, Sequence

from moto.backends import get_backend
from moto.core.resource_tagging import iter_taggable_backends

from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.principals import Principal


def values_of(principal: Principal, call: ApiCall, arn: str, key: str) -> Sequence[str]:
    """Return the values of a condition key; none when the call does not have it."""
    service, _, name = key.partition(":")
    kind, _, tag = name.partition("/")
    match kind.lower():
        case "resourcetag":
            return [text for each, text in _resource_tags(call, arn).items() if each == tag]
        case "requesttag":
            return [text for each, text in call.tags().items() if each == tag]
        case "tagkeys":
            return list(call.tags())
        case "attribute" if call.service == "ec2" and call.operation.startswith("Modify"):
            attributes = _attributes(call)
            return [attributes.get(tag, "")] if tag else list(attributes)
        case "instanceid" if ":instance/" in arn:
            return [arn.rpartition("/")[2]]
        case "sourceinstancearn":
            return _source_instance(principal, call)
    of_call = call.values(kind.lower().replace("-", ""))
    if of_call and service.lower() == call.service:
        return of_call
    known = {
        **principal.keys,
        "region": call.region,
        "requestedregion": call.region,
        "resourceaccount": call.account,
        # The real endpoints answer over TLS.
        "securetransport": "true",
    }
    return [known[kind.lower()]] if kind.lower() in known else []


def _attributes(call: ApiCall) -> Mapping[str, str]:
    """Return what a call sets, by the name of its parameter: only one for most calls.

    EC2 API reference, "Granting IAM users required permissions for Amazon EC2 resources":
    ModifyImageAttribute with ec2:Attribute `Description`. Inferred: an attribute that the parameter
    Attribute names instead is called as its own parameter is.
    """
    attributes = {
        name: str(value.get("Value", ""))
        for name, value in call.params.items()
        if isinstance(value, Mapping)
    }
    if name := call.params.get("Attribute"):
        attributes[f"{name[0].upper()}{name[1:]}"] = call.params.get("Value", "")
    return attributes


def _source_instance(principal: Principal, call: ApiCall) -> list[str]:
    """Return the ARN of the instance whose credentials these are, if they are an instance's.

    IAM user guide, "AWS global condition context keys": ec2:SourceInstanceARN. EC2 calls the
    session of an instance's role by the instance's id.
    """
    instance = principal.arn.rpartition("/")[2]
    ec2 = get_backend("ec2")[call.account][call.region]
    association = ec2.iam_instance_profile_associations.get(instance)
    roles = association.iam_instance_profile.roles if association else ()
    if principal.entity_arn not in [role.arn for role in roles]:
        return []
    return [f"arn:aws:ec2:{call.region}:{call.account}:instance/{instance}"]


def _resource_tags(call: ApiCall, arn: str) -> Mapping[str, str]:
    own = arn.split(":", 5)[-1]
    kind, _, name = own.partition("/")
    # moto does not list key pairs among what has tags.
    pair = get_backend("ec2")[call.account][call.region].key_pairs.get(name)
    if kind == "key-pair" and pair:
        return {tag["key"]: tag["value"] for tag in pair.get_tags()}
    for backend in iter_taggable_backends(call.account, call.region):
        if backend.owns_arn(arn):
            for resource in backend.iter_tagged_resources():
                # moto gives AMIs and snapshots an account, which their ARNs do not have.
                if resource.arn.split(":", 5)[-1] == own:
                    return resource.tags
    return {}
