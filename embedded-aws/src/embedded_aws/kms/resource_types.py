"""Encryption keys and their aliases."""

import json
from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::KMS::Key")
class Key(Handler):
    """A key; its Ref is the key's id."""

    gone = ("NotFoundException", "KMSInvalidStateException")
    fixed = ("KeySpec", "KeyUsage", "MultiRegion", "Origin")

    _later = (
        "EnableKeyRotation",
        "Enabled",
        "KeyPolicy",
        "PendingWindowInDays",
        "RotationPeriodInDays",
        "Tags",
    )

    def _create(self, request: Request) -> str:
        kms = request.client("kms")
        properties = request.properties
        taken = arguments(kms, "CreateKey", properties, leave=self._later)
        if "KeyPolicy" in properties:
            taken["Policy"] = json.dumps(properties["KeyPolicy"])
        tags = tag_list(all_tags(request), key="TagKey", value="TagValue")
        key_id: str = kms.create_key(**taken, Tags=tags)["KeyMetadata"]["KeyId"]
        return key_id

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

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        kms = request.client("kms")
        if tags:
            kms.tag_resource(KeyId=physical_id, Tags=tag_list(tags, key="TagKey", value="TagValue"))
        if stale:
            kms.untag_resource(KeyId=physical_id, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        metadata = request.client("kms").describe_key(KeyId=physical_id)["KeyMetadata"]
        return {"Arn": metadata["Arn"], "KeyId": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        days = request.properties.get("PendingWindowInDays", 30)
        request.client("kms").schedule_key_deletion(KeyId=physical_id, PendingWindowInDays=days)


@resource("AWS::KMS::Alias")
class Alias(Handler):
    """A name of a key; its Ref is the alias, `alias/...`."""

    gone = ("NotFoundException",)

    def _create(self, request: Request) -> str:
        kms = request.client("kms")
        kms.create_alias(**arguments(kms, "CreateAlias", request.properties))
        name: str = request.properties["AliasName"]
        return name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        kms = request.client("kms")
        kms.update_alias(**arguments(kms, "UpdateAlias", request.properties))

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("kms").delete_alias(AliasName=physical_id)
