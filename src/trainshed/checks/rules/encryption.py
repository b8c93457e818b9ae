"""Whether data is encrypted as the cluster file asks."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.checks.file_system import new_file_system
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.spec import DeploymentType


@rule(
    "TS-SEC-005",
    over=clusters,
    title="The policy of your own key must let services use it",
    why="""
The policy that a key has by default lets the account use it, and no service: CloudWatch Logs then
refuses log groups, and nodes end right after their launch, because the service-linked role of EC2
Auto Scaling, which launches them, cannot encrypt their volumes.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
        "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
    ),
    example="""
instance: {type: trn1.32xlarge}
kms_key: arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789
""",
)
def key_policy(plan: ClusterPlan) -> Iterator[Violation]:
    """Nothing here says what the policy of a key is."""
    if plan.security.kms_key:
        yield Violation(
            path=("kms_key",),
            message="nothing here says whether the key's policy lets CloudWatch Logs and EC2 Auto "
            "Scaling use it",
            remedy="compare it with the one of docs/security.md",
        )


@rule(
    "TS-SEC-001",
    over=clusters,
    title="Your own key does not apply to a scratch-2 file system",
    why="""
FSx encrypts scratch file systems with a key of its own, and the API refuses another one. Data
on it is encrypted, but not by the key that `kms_key` names.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html",),
    example="""
instance: {type: trn1.32xlarge}
storage: {lustre: {deployment: scratch-2}}
kms_key: arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789
""",
)
def scratch_without_own_key(plan: ClusterPlan) -> Iterator[Violation]:
    """A key that is asked for should encrypt the file system, too."""
    lustre = new_file_system(plan)
    if plan.security.kms_key and lustre and lustre.deployment is DeploymentType.SCRATCH_2:
        yield Violation(
            path=("kms_key",),
            message="a scratch-2 file system is encrypted with FSx's own key: kms_key does not "
            "apply to it",
            remedy="use deployment: persistent-2 if your rules require your own key",
        )
