"""Roles that pods get by EKS Pod Identity."""

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.spec import BucketGrant
from trainshed_constructs.compute.job_role import job_role


def pod_principal() -> iam.IPrincipal:
    """Return who takes a role for pods of this account.

    EKS user guide, "Create IAM role with trust policy required by EKS Pod Identity". Which pods may
    have the role, its association says.
    """
    service = iam.ServicePrincipal(
        "pods.eks.amazonaws.com",
        conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
    )
    return iam.SessionTagsPrincipal(service)


class JobIdentity(Construct):
    """Role of the pods of jobs, by their service account.

    Attributes:
        role: the role.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import JobIdentity

        stack = Stack(App(), "Compute")
        JobIdentity(
            stack,
            "Jobs",
            cluster_name="train",
            namespace="train",
            service_account="jobs",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        namespace: str,
        service_account: str,
        buckets: Sequence[BucketGrant] = (),
        policies: Sequence[str] = (),
    ) -> None:
        """Declare the role and its association.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the EKS cluster.
            namespace: of the pods; it need not be there yet.
            service_account: of the pods.
            buckets: what they may use in S3; by default nothing.
            policies: ARNs of managed policies; by default none.

        Raises:
            ConstructError: there are more buckets than a policy holds.
        """
        super().__init__(scope, construct_id)
        self.role = job_role(
            self,
            "Role",
            description="Pods of training jobs",
            assumed_by=pod_principal(),
            buckets=buckets,
            policies=policies,
        )
        eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster_name,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role.role_arn,
        )
