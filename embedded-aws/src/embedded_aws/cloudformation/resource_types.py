"""Resources that exist in the stack only: CDK's metadata and wait condition handles."""

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.resource import Request, resource


class _Marker(Handler):
    def _delete(self, request: Request, physical_id: str) -> None:
        """There is nothing to delete."""


@resource("AWS::CDK::Metadata")
class CdkMetadata(_Marker):
    """CDK's metadata; its Ref is a generated name."""

    def _create(self, request: Request) -> str:
        return generated_name(request, limit=128)


@resource("AWS::CloudFormation::WaitConditionHandle")
class WaitConditionHandle(_Marker):
    """A handle to signal; its Ref is the URL that takes the signal."""

    def _create(self, request: Request) -> str:
        bucket = f"cloudformation-waitcondition-{request.region}"
        name = generated_name(request, limit=255)
        return f"https://{bucket}.s3.{request.region}.amazonaws.com/{request.stack_id}/{name}"
