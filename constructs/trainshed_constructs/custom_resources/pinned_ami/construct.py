"""An AMI that exists, and stays what it was when the stack first looked for it."""

from aws_cdk import Arn, ArnComponents, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_resource import inline_resource


class PinnedAmi(Construct):
    """Finds an AMI once, by its id or in an SSM parameter, and keeps it while it is asked for.

    A CloudFormation parameter of type `AWS::SSM::Parameter::Value` is read again at every update
    of the stack: an AMI published meanwhile would change a running cluster along with whatever
    else was changed. This custom resource reads the parameter when it is created. Another
    parameter, another version of it or another cell makes another resource, so that a rollback
    comes back to the id that was there, and not to what the parameter says by then.

    The stack fails, with the reason and the remedy in its events, when the parameter is not there
    or does not hold an AMI id, when the account has no such AMI in the region, when the AMI is not
    available, when its root volume has another device name than the nodes' launch template says,
    and when a build of ours made it for another cell, as its tags say. SSM keeps 100 versions of a
    parameter; a version that was read and has gone since does no harm.

    Its function may write its log, read that parameter and describe AMIs.

    Attributes:
        image_id: the AMI id, known when the stack is deployed.
        version: which version of the parameter it came from; empty for an AMI id.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import PinnedAmi

        stack = Stack(App(), "Compute")
        PinnedAmi(stack, "Ami", ami="/trainshed/ami/neuron/ecs/stable", cell="neuron/ecs")
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        ami: str,
        version: int | None = None,
        cell: str | None = None,
        root_device: str | None = None,
        remedy: str = "name another AMI",
    ) -> None:
        """Declare the custom resource.

        Args:
            scope: parent.
            construct_id: id within the parent.
            ami: an AMI id, or the name of an SSM parameter with its leading slash; AWS's public
                ones too.
            version: version of the parameter to read; by default the newest at that moment.
            cell: what an AMI with our tags must be for, for instance `neuron/ecs`; by default
                anything.
            root_device: device name that its root volume must have, because a launch template
                sizes and encrypts that device: to an AMI with another one EC2 adds an empty
                volume, and leaves the root volume as it is. By default anything.
            remedy: what to do when there is no such AMI; the end of the message.
        """
        super().__init__(scope, construct_id)
        # DescribeImages takes no resource (Service Authorization Reference).
        statements = [iam.PolicyStatement(actions=["ec2:DescribeImages"], resources=["*"])]
        if ami.startswith("/"):
            statements.append(
                iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[self._arn(ami)])
            )
        selector = f"{ami}:{version}" if version else ami
        resource = inline_resource(
            self,
            name="pinned_ami",
            description="Finds an AMI once, and checks that nodes can boot it",
            statements=statements,
            wildcards={
                "*": "ec2:DescribeImages takes no resource (Service Authorization Reference)"
            },
            # Another selector or cell is another resource.
            construct_id=f"{selector} {cell}" if cell else selector,
            properties={
                "Ami": selector,
                "Cell": cell or "",
                "RootDevice": root_device or "",
                "Remedy": remedy,
            },
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
