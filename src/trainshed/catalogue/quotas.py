"""The account's quotas that a cluster counts against, and how to ask for more."""

from trainshed.catalogue.model import InstanceType, Quota

# Names: VPC user guide, "Amazon VPC quotas"; AWS General Reference, "Amazon EBS endpoints and
# quotas". Codes: output of ListServiceQuotas in several public repositories.
VPCS = Quota(service="vpc", code="L-F678F1CE", name="VPCs per Region")
ELASTIC_IPS = Quota(service="ec2", code="L-0263D0A3", name="EC2-VPC Elastic IPs")
NAT_GATEWAYS = Quota(service="vpc", code="L-FE5A380F", name="NAT gateways per Availability Zone")
NETWORK_INTERFACES = Quota(service="vpc", code="L-DF5E4CA3", name="Network interfaces per Region")

GP3_STORAGE = Quota(
    service="ebs",
    code="L-7A658B76",
    name="Storage for General Purpose SSD (gp3) volumes, in TiB",
)
IO2_STORAGE = Quota(
    service="ebs",
    code="L-09BD8365",
    name="Storage for Provisioned IOPS SSD (io2) volumes, in TiB",
)
IO2_IOPS = Quota(
    service="ebs", code="L-8D977E7E", name="IOPS for Provisioned IOPS SSD (io2) volumes"
)

# EKS user guide, "View and manage Amazon EKS and Fargate service quotas". Codes: as those above.
EKS_CLUSTERS = Quota(service="eks", code="L-1194D53C", name="Clusters")
EKS_NODE_GROUPS = Quota(service="eks", code="L-6D54EA21", name="Managed node groups per cluster")
EKS_NODES = Quota(service="eks", code="L-BD136A63", name="Nodes per managed node group")


def quota_for(instance: InstanceType, usage: str) -> Quota | None:
    """Return the quota of vCPUs that nodes count against, or None when there is none.

    Args:
        instance: the nodes' type.
        usage: how they are bought: `on-demand`, `reservation`, `capacity-block` or `spot`.
    """
    if usage == "spot":
        return instance.spot_quota
    # A reservation counts against it while it exists, used or not. From memory: a Capacity Block
    # does not.
    return None if usage == "capacity-block" else instance.on_demand_quota


def increase_command(quota: Quota, value: int, region: str) -> str:
    """Return the command that asks AWS for a larger quota in a region."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code {quota.service} "
        f"--quota-code {quota.code} --desired-value {value} --region {region}"
    )
