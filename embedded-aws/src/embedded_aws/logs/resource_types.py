"""CloudWatch log groups."""

import json
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::Logs::LogGroup")
class LogGroup(Handler):
    """A log group; its Ref is the group's name."""

    service = "logs"
    gone = ("ResourceNotFoundException",)
    fixed = (
        "BearerTokenAuthenticationEnabled",
        "DeletionProtectionEnabled",
        "FieldIndexPolicies",
        "LogGroupClass",
        "ResourcePolicyDocument",
    )
    tagging = Tagging(target="resourceArn", by="TaggedArn", form=dict)

    _later = ("DataProtectionPolicy", "LogGroupName", "RetentionInDays", "Tags")

    def _create(self, request: Request) -> str:
        name, wanted = given_or_generated(request, "LogGroupName", limit=512), request.properties
        more = {"logGroupName": name, "tags": all_tags(request)}
        self._call(request, "CreateLogGroup", wanted, leave=self._later, **more)
        return name

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        logs = request.client("logs")
        now = request.properties
        if changed(request, before, "RetentionInDays"):
            if "RetentionInDays" in now:
                logs.put_retention_policy(
                    logGroupName=physical_id, retentionInDays=now["RetentionInDays"]
                )
            else:
                logs.delete_retention_policy(logGroupName=physical_id)
        if changed(request, before, "DataProtectionPolicy"):
            if "DataProtectionPolicy" in now:
                logs.put_data_protection_policy(
                    logGroupIdentifier=physical_id,
                    policyDocument=json.dumps(now["DataProtectionPolicy"]),
                )
            else:
                logs.delete_data_protection_policy(logGroupIdentifier=physical_id)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "KmsKeyId"):
            logs = request.client("logs")
            if "KmsKeyId" in request.properties:
                key = request.properties["KmsKeyId"]
                logs.associate_kms_key(logGroupName=physical_id, kmsKeyId=key)
            else:
                logs.disassociate_kms_key(logGroupName=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("logs").describe_log_groups(logGroupNamePrefix=physical_id)
        group = next(group for group in reply["logGroups"] if group["logGroupName"] == physical_id)
        # Tagging takes the ARN without the wildcard for the group's streams.
        return {"Arn": group["arn"], "TaggedArn": group["arn"].removesuffix(":*")}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("logs").delete_log_group(logGroupName=physical_id)
