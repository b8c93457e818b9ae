"""An AMI id out of an SSM parameter that stays what it was when the stack first read it."""

from aws_cdk import Arn, ArnComponents, CustomResource, Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.inline_function import inline_function


class PinnedAmi(Construct):
    """Reads an AMI id from an SSM parameter once, and keeps it for as long as it is asked for.

    A CloudFormation parameter of type `AWS::SSM::Parameter::Value` is read again at every update
    of the stack: an AMI published meanwhile would change a running cluster along with whatever
    else was changed. This custom resource reads the parameter when it is created. Another
    parameter, or another version of it, makes another resource, so that a rollback comes back to
    the id that was there, and not to what the parameter says by then.

    The parameter must exist and hold an AMI id; what is wrong stands in the stack's events. SSM
    keeps 100 versions of a parameter; a version that was read and has gone since does no harm.

    Its function may write its log and read that parameter.

    Attributes:
        image_id: the AMI id, known when the stack is deployed.
        version: which version of the parameter it came from.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import PinnedAmi

        stack = Stack(App(), "Compute")
        PinnedAmi(stack, "Ami", parameter="/trainshed/ami/neuron/ecs/stable")
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, parameter: str, version: int | None = None
    ) -> None:
        """Declare the custom resource.

        Args:
            scope: parent.
            construct_id: id within the parent.
            parameter: name of the SSM parameter, with its leading slash; AWS's public ones too.
            version: the version to read; by default the newest at that moment.
        """
        super().__init__(scope, construct_id)
        function = inline_function(
            self,
            module="pinned_ami",
            description="Reads an AMI id from an SSM parameter once",
            statements=[
                iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[self._arn(parameter)])
            ],
            timeout=Duration.seconds(30),
        )
        selector = f"{parameter}:{version}" if version else parameter
        resource = CustomResource(
            self,
            # Another selector is another resource.
            selector,
            resource_type="Custom::PinnedAmi",
            service_token=function.function_arn,
            service_timeout=Duration.minutes(2),
            properties={"Parameter": selector},
        )
        self.image_id = resource.get_att_string("ImageId")
        self.version = resource.get_att_string("Version")

    def _arn(self, parameter: str) -> str:
        parts = ArnComponents(
            service="ssm",
            resource="parameter",
            resource_name=parameter[1:],
            # AWS's public parameters belong to no account; None is the stack's.
            account="" if parameter.startswith("/aws/") else None,
        )
        return Arn.format(parts, Stack.of(self))
