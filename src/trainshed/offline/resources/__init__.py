"""Resource handlers, grouped by AWS service: properties in, API calls out.

Importing this package registers the handlers of every supported type.
"""

from trainshed.offline.resources import (  # noqa: F401  (imported for what they register)
    alarms,
    batch,
    codebuild,
    ec2_compute,
    ec2_endpoints,
    ec2_instance,
    ec2_routes,
    ec2_security_groups,
    ec2_vpc,
    ec2_vpc_cidr_blocks,
    ecr,
    ecr_registry,
    event_buses,
    fsx,
    iam,
    iam_policies,
    kms,
    lambda_,
    lambda_versions,
    logs,
    markers,
    messaging,
    s3,
    secrets_manager,
    sns_access,
    sqs,
    ssm,
)
