"""The role of the instance that an AMI is made of: to be reached, and nothing else."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.ami.session_manager import session_actions
from trainshed_constructs.wildcards import acknowledge_wildcards


class AmiBuilderRole(Construct):
    """Role and instance profile of a build instance that Session Manager reaches.

    Compiling a driver needs no permission in AWS. With a profile that is there beforehand, the
    build need not be allowed to make roles.

    Attributes:
        role: the role.
        profile: the instance profile that carries it.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        """Declare the role.

        Args:
            scope: parent.
            construct_id: id within the parent.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="Instances that AMIs are made of",
            inline_policies={
                "BeReached": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(actions=[*session_actions()], resources=["*"]),
                    ]
                )
            },
        )
        self.profile = iam.CfnInstanceProfile(self, "Profile", roles=[self.role.role_name])
        acknowledge_wildcards(
            self.role, {"*": "these actions take no resource (Service Authorization Reference)"}
        )
