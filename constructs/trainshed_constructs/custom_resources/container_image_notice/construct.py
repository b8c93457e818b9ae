"""A sentence, for a stack's outputs, about whether a container image is there to be pulled."""

from aws_cdk import Arn, ArnComponents, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_resource import inline_resource


class ContainerImageNotice(Construct):
    """Asks ECR for a container image, and says what it answered; it never fails the stack.

    A job definition may name an image that nobody has pushed yet: AWS Batch takes it, and the
    first job fails on its nodes. This custom resource is asked when it is created and whenever
    the job definition gets another revision, so its sentence says when that was; what is pushed
    afterwards does not change it.

    Its function may write its log and describe the images of that repository.

    Attributes:
        text: the sentence, known when the stack is deployed; put it into an output.

    Example::

        from aws_cdk import App, CfnOutput, Stack
        from trainshed_constructs import ContainerImageNotice

        stack = Stack(App(), "Compute")
        notice = ContainerImageNotice(
            stack,
            "ContainerImageNotice",
            repository_name="train",
            tag_or_digest="v1",
            job_definition_arn="arn:aws:batch:us-west-2:123456789012:job-definition/train:1",
            remedy="trainshed container push TrainCluster",
            list_command="trainshed container list TrainCluster",
        )
        CfnOutput(stack, "ContainerImage", value=notice.text)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository_name: str,
        tag_or_digest: str,
        job_definition_arn: str,
        remedy: str,
        list_command: str,
    ) -> None:
        """Declare the custom resource.

        Args:
            scope: parent.
            construct_id: id within the parent.
            repository_name: of a repository of this account and region.
            tag_or_digest: the image's tag, or its digest, `sha256:...`.
            job_definition_arn: definition that names the image; another revision asks again.
            remedy: how to push the image.
            list_command: how to see what the repository has.
        """
        super().__init__(scope, construct_id)
        repository = ArnComponents(
            service="ecr", resource="repository", resource_name=repository_name
        )
        resource = inline_resource(
            self,
            name="container_image_notice",
            description="Says whether a container image is in its repository",
            statements=[
                iam.PolicyStatement(
                    actions=["ecr:DescribeImages"],
                    resources=[Arn.format(repository, Stack.of(self))],
                )
            ],
            properties={
                "Repository": repository_name,
                "TagOrDigest": tag_or_digest,
                "JobDefinition": job_definition_arn,
                "Remedy": remedy,
                "List": list_command,
            },
        )
        self.text = resource.get_att_string("Notice")
