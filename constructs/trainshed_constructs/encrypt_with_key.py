"""A customer managed key for what many constructs declare: log groups and functions."""

import jsii
from aws_cdk import Aspects, IAspect
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct


def encrypt_with_key(scope: Construct, *, kms_key_arn: str) -> None:
    """Encrypt every log group and the variables of every function in a scope.

    The key's policy must let CloudWatch Logs use it (CloudWatch Logs user guide, "Encrypt log data
    in CloudWatch Logs using AWS Key Management Service"); CreateLogGroup fails otherwise. Lambda
    makes a grant for the function's role, with the rights of whoever deploys (Lambda developer
    guide, "Securing Lambda environment variables").

    Args:
        scope: a stack or another construct.
        kms_key_arn: ARN of a symmetric key of the same region.
    """
    Aspects.of(scope).add(_EncryptWithKey(kms_key_arn))


@jsii.implements(IAspect)
class _EncryptWithKey:
    def __init__(self, kms_key_arn: str) -> None:
        self._kms_key_arn = kms_key_arn

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, logs.CfnLogGroup):
            node.kms_key_id = self._kms_key_arn
        elif isinstance(node, lambda_.CfnFunction) and node.environment:
            node.kms_key_arn = self._kms_key_arn
