"""Encryption keys and their aliases."""

from functools import partial
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource

_tag_list = partial(tag_list, key="TagKey", value="TagValue")


@resource("AWS::KMS::Key")
class Key(Handler):
    """A key; its Ref is the key's id."""

    service = "kms"
    target = "KeyId"
    creation = "CreateKey", "KeyMetadata.KeyId"
    reading = "DescribeKey", "KeyMetadata"
    fixed = ("KeySpec", "KeyUsage", "MultiRegion", "Origin")
    settings = {"Description": Setting(put="UpdateKeyDescription", neutral="")}
    tagging = Tagging(target="KeyId", form=_tag_list)

    later = (
        "EnableKeyRotation",
        "Enabled",
        "KeyPolicy",
        "PendingWindowInDays",
        "RotationPeriodInDays",
    )

    def _wanted(self, request: Request) -> dict[str, Any]:
        policy = request.properties.get("KeyPolicy")
        return super()._wanted(request) | ({"Policy": policy} if policy else {})

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        now = request.properties
        if changed(request, before, "KeyPolicy") and "KeyPolicy" in now:
            policy = {"PolicyName": "default", "Policy": now["KeyPolicy"]}
            self._call(request, "PutKeyPolicy", policy, KeyId=physical_id)
        super()._change(request, physical_id, before)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        now, key = request.properties, {"KeyId": physical_id}
        if changed(request, before, "EnableKeyRotation", "RotationPeriodInDays"):
            if now.get("EnableKeyRotation", False):
                period = present(now, "RotationPeriodInDays")
                self._call(request, "EnableKeyRotation", {**key, **period})
            else:
                self._call(request, "DisableKeyRotation", key)
        if changed(request, before, "Enabled"):
            operation = "EnableKey" if now.get("Enabled", True) else "DisableKey"
            self._call(request, operation, key)

    def _delete(self, request: Request, physical_id: str) -> None:
        if self._described(request, physical_id)["KeyState"] != "PendingDeletion":
            days = request.properties.get("PendingWindowInDays", 30)
            request.client("kms").schedule_key_deletion(KeyId=physical_id, PendingWindowInDays=days)


@resource("AWS::KMS::Alias")
class KeyAlias(Handler):
    """A name of a key; its Ref is the alias, `alias/...`."""

    service = "kms"
    target = "AliasName"
    creation = "CreateAlias", "AliasName"
    changing = "UpdateAlias"
    deletion = "DeleteAlias"
