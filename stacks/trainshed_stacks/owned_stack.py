"""What every stack has: its owners' place and tags, and what they ask of its resources."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.account.tags import CLUSTER_TAG
from trainshed.plan import resource_tags
from trainshed.plan.security import SecurityPlan
from trainshed_constructs import encrypt_with_key, prefix_role_names

# Types that CloudFormation replaces when their tags change, and who says so: the resource schemas
# that AWS publishes ("schema"), the data that `cdk diff` uses ("CDK"), issues of
# CloudFormation's public roadmap. The sources disagree, and a replaced job queue ends its jobs, so
# one is enough.
REPLACED_FOR_TAGS: Final = {
    "AWS::Batch::ComputeEnvironment": "schema, CDK, roadmap issue 2270",
    "AWS::Batch::JobDefinition": "CDK; the schema says that tags change in place",
    "AWS::Batch::JobQueue": "CDK, roadmap issue 2463; the schema says that tags change in place",
    "AWS::EC2::PlacementGroup": "schema, CDK",
}
# BatchMultiNode puts the tags of a compute environment on its instances only.
_NOT_TAGGED = sorted(REPLACED_FOR_TAGS.keys() - {"AWS::Batch::ComputeEnvironment"})


class StackOwner(Protocol):
    """The plan of a cluster or of an AMI pipeline."""

    @property
    def account(self) -> str | None:
        """AWS account, or None to leave it to the deployment."""

    @property
    def region(self) -> str:
        """AWS region."""

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags of every resource, `owner` among them."""

    @property
    def security(self) -> SecurityPlan:
        """The key, and what roles carry."""


class OwnedStack(cdk.Stack):
    """A stack in its owners' account and region, with their tags, secured as they ask.

    Log groups and functions are encrypted, and roles bounded and named. What else is encrypted
    takes the key from its own construct.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        owners: Sequence[StackOwner],
        cluster: str | None = None,
        description: str,
        protected: bool = False,
    ) -> None:
        """Declare the stack.

        Args:
            scope: the app.
            construct_id: the stack's name.
            owners: who uses it. They agree on all but their tags; it has the tags of all.
            cluster: value of the tag `trainshed:cluster`: the cluster's name, or that of what
                clusters share; it never changes. By default the stack has no such tag.
            description: what it is, for people.
            protected: nobody can delete it (termination protection).
        """
        owner = owners[0]
        super().__init__(
            scope,
            construct_id,
            env=cdk.Environment(account=owner.account, region=owner.region),
            description=description,
            termination_protection=protected,
        )
        tags = cdk.Tags.of(self)
        if cluster:
            tags.add(CLUSTER_TAG, cluster)
        for key, value in resource_tags(each.tags for each in owners).items():
            tags.add(key, value, exclude_resource_types=_NOT_TAGGED)
        self._secure(owner.security)

    def _secure(self, plan: SecurityPlan) -> None:
        if plan.kms_key:
            encrypt_with_key(self, kms_key_arn=plan.kms_key)
        if plan.boundary:
            boundary = iam.ManagedPolicy.from_managed_policy_arn(
                self, "PermissionsBoundary", plan.boundary
            )
            iam.PermissionsBoundary.of(self).apply(boundary)
        if plan.role_prefix:
            prefix_role_names(self, prefix=plan.role_prefix)
