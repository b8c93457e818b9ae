"""What IAM has in a new account: AWS's policies, and the role of AWS Batch.

Batch would create that role with the first compute environment.
"""

from moto.core.config import default_user_config
from moto.iam.models import SERVICE_NAME_CONVERSION, iam_backends
from moto.utilities.utils import get_partition

from embedded_aws.hooks import when_account_made


@when_account_made
def _give_policies_and_roles(account: str, region: str) -> None:
    # moto has AWS's managed policies, and loads them where this says so.
    default_user_config.setdefault("iam", {})["load_aws_managed_policies"] = True
    # moto names a service's role AWSServiceRoleForbatch, AWS AWSServiceRoleForBatch.
    SERVICE_NAME_CONVERSION.update(batch="Batch", ecs="ECS", fsx="FSx", spot="Spot")
    SERVICE_NAME_CONVERSION.update({"eks": "AmazonEKS", "eks-nodegroup": "AmazonEKSNodegroup"})
    iam = iam_backends[account][get_partition(region)]
    if not iam.aws_managed_policies:
        iam.aws_managed_policies = iam._init_aws_policies()
        iam.managed_policies |= iam._init_managed_policies()
    if not any(role.name == "AWSServiceRoleForBatch" for role in iam.get_roles()):
        role = iam.create_service_linked_role("batch.amazonaws.com", "", "")
        iam.attach_role_policy(
            f"arn:{get_partition(region)}:iam::aws:policy/aws-service-role/BatchServiceRolePolicy",
            role.name,
        )
