"""The control planes of EKS that a CloudFormation template makes."""

from trainshed.lint.model import ControlPlane
from trainshed.lint.template import Template

CLUSTER = "AWS::EKS::Cluster"


def control_planes(template: Template) -> tuple[ControlPlane, ...]:
    """Return the clusters of EKS."""
    return tuple(
        ControlPlane(
            name=resource.logical_id,
            path=resource.path,
            version=resource.get("Version").text(),
            support=resource.get("UpgradePolicy", "SupportType").text(),
            public=resource.get("ResourcesVpcConfig", "EndpointPublicAccess").flag(),
            public_cidrs=resource.get("ResourcesVpcConfig", "PublicAccessCidrs").references(),
        )
        for resource in template.of_type(CLUSTER)
    )
