"""A function that ends the jobs that run of a job queue of AWS Batch."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.wildcards import own_arn


class JobEnder(Construct):
    """Function that ends the jobs that run of a job queue of AWS Batch; those that wait stay.

    A compute environment that is disabled lets jobs run on, with nodes that are billed, for as long
    as their time-out: when a cluster has expired, they are ended.

    Follows the AWS Batch API reference, ListJobs and TerminateJob: jobs that are STARTING or
    RUNNING are terminated, and not tried again; of a multi-node job, all nodes.

    Attributes:
        function: the function; it takes no input.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import JobEnder

        stack = Stack(App(), "Compute")
        JobEnder(
            stack,
            "JobEnd",
            cluster="TrainCluster",
            queue_arn="arn:aws:batch:us-west-2:123456789012:job-queue/train",
            reason="guard.expires of TrainCluster: its nodes are stopped",
        )
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, cluster: str, queue_arn: str, reason: str
    ) -> None:
        """Declare the function.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: name of the cluster, for people.
            queue_arn: of the job queue.
            reason: which the jobs have from then on.
        """
        super().__init__(scope, construct_id)
        jobs = own_arn("batch", "job/*")
        statements = [
            # Service Authorization Reference, AWS Batch: ListJobs has no resource.
            iam.PolicyStatement(sid="List", actions=["batch:ListJobs"], resources=["*"]),
            iam.PolicyStatement(sid="End", actions=["batch:TerminateJob"], resources=[jobs]),
        ]
        self.function = inline_function(
            self,
            name="job_ender",
            description=f"Ends the jobs of {cluster} that run",
            statements=statements,
            wildcards={
                "*": "batch:ListJobs takes no resource",
                jobs: "jobs have ids of their own, and those of one queue no common part",
            },
            timeout=minutes(5),
            environment={"QUEUE": queue_arn, "REASON": reason},
        )
