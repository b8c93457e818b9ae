"""Encryption keys and their aliases."""

import json
from functools import partial
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource

_tag_list = partial(tag_list, key="TagKey", value="TagValue")


@resource("AWS::KMS::Key")
class Key(Handler):
    """A key; its Ref is the key's id."""

    service = "kms"
    gone = ("NotFoundException", "KMSInvalidStateException")
    fixed = ("KeySpec", "KeyUsage", "MultiRegion", "Origin")
    tagging = Tagging(target="KeyId", form=_tag_list)

    _later = (
        "EnableKeyRotation",
        "Enabled",
        "KeyPolicy",
        "PendingWindowInDays",
        "RotationPeriodInDays",
        "Tags",
    )

    def _create(self, request: Request) -> str:
        properties = request.properties
        more: dict[str, Any] = {"Tags": _tag_list(all_tags(request))}
        if "KeyPolicy" in properties:
            more["Policy"] = json.dumps(properties["KeyPolicy"])
        reply = self._call(request, "CreateKey", properties, leave=self._later, **more)
        return str(reply["KeyMetadata"]["KeyId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        kms = request.client("kms")
        now = request.properties
        if changed(request, before, "KeyPolicy") and "KeyPolicy" in now:
            document = json.dumps(now["KeyPolicy"])
            kms.put_key_policy(KeyId=physical_id, PolicyName="default", Policy=document)
        if changed(request, before, "Description"):
            kms.update_key_description(KeyId=physical_id, Description=now.get("Description", ""))

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        kms = request.client("kms")
        now = request.properties
        if changed(request, before, "EnableKeyRotation", "RotationPeriodInDays"):
            rotation: dict[str, Any] = {"KeyId": physical_id}
            if now.get("EnableKeyRotation", False):
                if "RotationPeriodInDays" in now:
                    rotation["RotationPeriodInDays"] = now["RotationPeriodInDays"]
                kms.enable_key_rotation(**rotation)
            else:
                kms.disable_key_rotation(**rotation)
        if changed(request, before, "Enabled"):
            if now.get("Enabled", True):
                kms.enable_key(KeyId=physical_id)
            else:
                kms.disable_key(KeyId=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        metadata = request.client("kms").describe_key(KeyId=physical_id)["KeyMetadata"]
        return {"Arn": metadata["Arn"], "KeyId": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        days = request.properties.get("PendingWindowInDays", 30)
        request.client("kms").schedule_key_deletion(KeyId=physical_id, PendingWindowInDays=days)


@resource("AWS::KMS::Alias")
class Alias(Handler):
    """A name of a key; its Ref is the alias, `alias/...`."""

    service = "kms"
    gone = ("NotFoundException",)

    def _create(self, request: Request) -> str:
        self._call(request, "CreateAlias", request.properties)
        return str(request.properties["AliasName"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._call(request, "UpdateAlias", request.properties)

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("kms").delete_alias(AliasName=physical_id)
