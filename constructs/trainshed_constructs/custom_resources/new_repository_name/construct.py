"""The name of a repository that is yet to be made."""

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_resource import inline_resource


class NewRepositoryName(Construct):
    """Passes a name on to a `TrainingRepository`, unless ECR has a repository of that name.

    A repository outlives its stack, and the next stack cannot make it again: CloudFormation says
    "already exists", and not what to do. This custom resource fails first and says it. The name
    has to come from here, because CloudFormation looks for a name that stands in the template
    before it makes anything (user guide, "Validate stack deployments").

    Its function may write its log and describe that repository.

    Attributes:
        name: the name, known when the stack is deployed.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import NewRepositoryName, TrainingRepository

        stack = Stack(App(), "Images")
        name = NewRepositoryName(
            stack, "Name", repository_name="train", how_to_adopt="image.existing: true"
        )
        TrainingRepository(stack, "Images", repository_name=name.name)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository_name: str,
        how_to_adopt: str,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the custom resource.

        Args:
            scope: parent.
            construct_id: id within the parent.
            repository_name: name of the repository.
            how_to_adopt: what to set to use one that is there, for the message.
            kms_key_arn: key that encrypts it; another one later is refused, because ECR cannot
                change it. By default ECR's own.
        """
        super().__init__(scope, construct_id)
        arn = Stack.of(self).format_arn(
            service="ecr",
            resource="repository",
            resource_name=repository_name,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        resource = inline_resource(
            self,
            name="new_repository_name",
            description="Looks whether there is an ECR repository already",
            statements=[iam.PolicyStatement(actions=["ecr:DescribeRepositories"], resources=[arn])],
            properties={
                "Name": repository_name,
                "HowToAdopt": how_to_adopt,
                "KmsKey": kms_key_arn or "",
            },
        )
        self.name = resource.get_att_string("Name")
