"""What is reachable or unencrypted from now on."""

import re
from collections.abc import Iterator, Mapping

from trainshed.review.differences import TemplateDifference
from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.permissions import ANYWHERE, rule_text
from trainshed.review.risks.affected import Affected, leaves_of
from trainshed.review.values import Names, rendered
from trainshed.template_changes import Effect

_KIND = RiskKind.OPEN_TO_THE_WORLD
_NO_ADDRESS = (
    "ask why: NAT and endpoints lead out, and Session Manager leads in (docs/plain-ec2.md)"
)
_IMDS = "set HttpTokens to required"
_ENCRYPT = "ask why it need not be encrypted; kms_key of the cluster file encrypts all that can be"
_BLOCK = "ask who outside the account reads the bucket; else keep all four blocks"
# Values that open, what that means, and what to do.
_OPENING = {
    ("AssociatePublicIpAddress", "true"): ("nodes get public addresses", _NO_ADDRESS),
    ("MapPublicIpOnLaunch", "true"): ("nodes in it get public addresses", _NO_ADDRESS),
    ("HttpTokens", "optional"): ("nodes answer IMDSv1 requests", _IMDS),
    ("Encrypted", "false"): ("it is not encrypted", _ENCRYPT),
    ("StorageEncrypted", "false"): ("it is not encrypted", _ENCRYPT),
}
# A new network has public subnets for its NAT gateways.
_FINE_WHEN_NEW = ("MapPublicIpOnLaunch",)
# Values whose loss opens.
_CLOSING = {
    ("HttpTokens", "required"): ("nodes may answer IMDSv1 requests", _IMDS),
    ("Encrypted", "true"): ("it may no longer be encrypted", _ENCRYPT),
    ("StorageEncrypted", "true"): ("it may no longer be encrypted", _ENCRYPT),
    ("BlockPublicAcls", "true"): ("the bucket may be made public", _BLOCK),
    ("BlockPublicPolicy", "true"): ("the bucket may be made public", _BLOCK),
    ("IgnorePublicAcls", "true"): ("the bucket may be made public", _BLOCK),
    ("RestrictPublicBuckets", "true"): ("the bucket may be made public", _BLOCK),
}
# Properties whose loss opens, whatever their value.
_KEYS = ("BucketEncryption", "KmsKeyId", "KmsMasterKeyId")


def open_rules(stack: str, difference: TemplateDifference, called: Names) -> Iterator[Risk]:
    """Yield rules of security groups that let everybody in."""
    for rule in difference.rules:
        if rule.gained and rule.inbound and rule.peer in ANYWHERE:
            yield Risk(
                kind=_KIND,
                level=Level.HIGH,
                stack=stack,
                resource=rendered(rule.group, called),
                message=rule_text(rule, called),
                remedy="ask who has to reach it, and give the group or range that they come from; "
                "for a shell on a node Session Manager needs no rule (docs/plain-ec2.md)",
            )


def open_properties(affected: Affected) -> Iterator[Risk]:
    """Yield properties that open a resource, or no longer close it."""
    if affected.change.effect is Effect.REMOVED:
        return
    old, new = (_values(side.get("Properties", {})) for side in (affected.old, affected.new))
    found = dict.fromkeys(
        _OPENING[name, value]
        for path, (name, value) in new.items()
        if (name, value) in _OPENING
        and old.get(path) != (name, value)
        and (affected.old or name not in _FINE_WHEN_NEW)
    )
    found |= dict.fromkeys(
        _CLOSING[each]
        for path, each in old.items()
        if each in _CLOSING
        and new.get(path) not in (each, *_OPENING)
        and not _left_its_list(path, new)
    )
    for name in _KEYS:
        if name in affected.old.get("Properties", {}) and name not in affected.new.get(
            "Properties", {}
        ):
            found[f"it is no longer encrypted as {name} says", _ENCRYPT] = None
    for message, remedy in found:
        yield affected.risk(_KIND, Level.HIGH, message, remedy)


def _left_its_list(path: str, new: Mapping[str, object]) -> bool:
    """Return whether the element of a list that a property was in is gone, but not the list."""
    found = re.match(r"(?P<list>.*\[)\d+\]", path)
    if not found:
        return False
    elements, element = (
        any(other.startswith(start) for other in new) for start in (found["list"], found[0])
    )
    return elements and not element


def _values(properties: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return the innermost properties by path: name and value, as CloudFormation takes it."""
    return {
        path: (path.rpartition(".")[2], str(each).lower()) for path, each in leaves_of(properties)
    }
