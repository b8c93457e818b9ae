"""What AWS's APIs do and moto's do not, one module per subject.

Every refusal lives here, at the API, once: it holds for boto3 users and for CloudFormation alike.
Module docstrings mark what comes from AWS's documents [S] and what is inferred from them [I].
"""

from importlib import import_module

from trainshed.offline.services.settings import ServiceSettings, follow

__all__ = ["ServiceSettings", "install"]

_ACTION_MODULES = (
    "zones",
    "instance_types",
    "placement_groups",
    "interface_groups",
    "gateways",
    "security_groups",
    "security_group_rules",
    "networks",
    "default_vpc",
    "policy_versions",
    "vpc_cidr_blocks",
    "launch_templates",
    "compute_environments",
    "job_queues",
    "job_definitions",
    "jobs",
    "file_systems",
    "data_repositories",
    "lambda_functions",
    "capacity_reservations",
    "capacity_blocks",
    "instances",
    "guest_instances",
    "images",
    "image_attributes",
    "fleets",
    "public_images",
    "quotas",
    "parameters",
    "log_groups",
    "permissions_boundaries",
    "pull_through_cache",
    "repository_creation_templates",
    "build_projects",
    "build_webhooks",
    "rule_targets",
    "container_images",
)


def install(settings: ServiceSettings | None = None) -> None:
    """Extend moto, in this process, with everything of this package.

    May be called again to change the settings.

    Args:
        settings: by default today's truth.
    """
    follow(settings or ServiceSettings())
    for module in _ACTION_MODULES:
        import_module(f"{__name__}.{module}")
    # moto loads its services when they are first asked for; extending them loads them now.
    from moto.awslambda.responses import LambdaResponse
    from moto.batch.responses import BatchResponse
    from moto.codebuild.responses import CodeBuildResponse
    from moto.ec2.responses import EC2Response
    from moto.ecr.responses import ECRResponse
    from moto.events.responses import EventsHandler
    from moto.fsx.responses import FSxResponse
    from moto.iam.responses import IamResponse
    from moto.logs.responses import LogsResponse
    from moto.servicequotas.responses import ServiceQuotasResponse
    from moto.ssm.responses import SimpleSystemManagerResponse

    from trainshed.offline.services import (
        actions,
        bucket_policies,
        container_images,
        default_vpc,
        ec2_tags,
        guest_instances,
        images,
        instances,
        lambda_functions,
        policy_versions,
        security_groups,
        zones,
    )

    bucket_policies.correct_moto()
    container_images.correct_moto()
    default_vpc.correct_moto()
    policy_versions.correct_moto()
    zones.complete_zones()
    ec2_tags.register_prefixes()
    security_groups.correct_moto()
    instances.show_network_cards()
    guest_instances.keep_off_names()
    images.show_mappings()
    lambda_functions.run_for_real()
    actions.attach(
        {
            "batch": BatchResponse,
            "codebuild": CodeBuildResponse,
            "ec2": EC2Response,
            "ecr": ECRResponse,
            "events": EventsHandler,
            "fsx": FSxResponse,
            "iam": IamResponse,
            "lambda": LambdaResponse,
            "logs": LogsResponse,
            "service-quotas": ServiceQuotasResponse,
            "ssm": SimpleSystemManagerResponse,
        }
    )
