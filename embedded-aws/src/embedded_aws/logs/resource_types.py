"""CloudWatch log groups."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Request, resource


@resource("AWS::Logs::LogGroup")
class LogGroup(Handler):
    """A log group; its Ref is the group's name."""

    service = "logs"
    target, name, name_limit = "logGroupName", "LogGroupName", 512
    creation = "CreateLogGroup", "LogGroupName"
    deletion = "DeleteLogGroup"
    later = ("RetentionInDays",)
    settings = {
        "KmsKeyId": Setting(put="AssociateKmsKey", remove="DisassociateKmsKey"),
        "RetentionInDays": Setting(put="PutRetentionPolicy", remove="DeleteRetentionPolicy"),
    }
    fixed = (
        "BearerTokenAuthenticationEnabled",
        "DataProtectionPolicy",
        "DeletionProtectionEnabled",
        "FieldIndexPolicies",
        "LogGroupClass",
        "ResourcePolicyDocument",
    )
    tagging = Tagging(target="resourceArn", by="TaggedArn", form=dict)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("logs").describe_log_groups(logGroupNamePrefix=physical_id)
        group = next(group for group in reply["logGroups"] if group["logGroupName"] == physical_id)
        # Tagging takes the ARN without the wildcard for the group's streams.
        return {"Arn": group["arn"], "TaggedArn": group["arn"].removesuffix(":*")}
