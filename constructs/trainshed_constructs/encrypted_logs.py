"""CloudWatch log groups encrypted with a customer managed key."""

import jsii
from aws_cdk import Aspects, IAspect
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct


def encrypt_logs(scope: Construct, *, kms_key_arn: str) -> None:
    """Encrypt every log group in a scope, whoever declares it.

    The key's policy must let CloudWatch Logs use it (CloudWatch Logs user guide, "Encrypt log data
    in CloudWatch Logs using AWS Key Management Service"); CreateLogGroup fails otherwise.

    Args:
        scope: a stack or another construct.
        kms_key_arn: ARN of a symmetric key of the same region.
    """
    Aspects.of(scope).add(_EncryptLogs(kms_key_arn))


@jsii.implements(IAspect)
class _EncryptLogs:
    def __init__(self, kms_key_arn: str) -> None:
        self._kms_key_arn = kms_key_arn

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, logs.CfnLogGroup):
            node.kms_key_id = self._kms_key_arn
