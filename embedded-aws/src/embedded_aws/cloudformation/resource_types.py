"""Resources that exist in the stack only: CDK's metadata, wait conditions and their handles."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.resource import HandlerError, Request, resource


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


@resource("AWS::CloudFormation::WaitCondition")
class WaitCondition(_Marker):
    """Waits for signals by its creation policy; its Ref is a generated name."""

    def _create(self, request: Request) -> str:
        if "Handle" in request.properties:
            raise HandlerError(
                "the embedded AWS takes no signals at the URL of a wait condition handle; give the "
                "wait condition a CreationPolicy in place of Handle, Timeout and Count"
            )
        return generated_name(request, limit=128)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        # SignalResource takes no data.
        return {"Data": "{}"}
