"""AWS::EKS::Cluster.

Inferred: an update of several settings is several updates, one after the other.
"""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, changes, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.eks.clusters import LOG_TYPES
from embedded_aws.eks.resource_types.handler import EksHandler


@resource("AWS::EKS::Cluster")
class Cluster(EksHandler):
    """A cluster; its Ref is its name."""

    target, name, name_limit = "name", "Name", 100
    creation = "CreateCluster", "cluster.name"
    reading = "DescribeCluster", "cluster"
    deletion = "DeleteCluster"
    later = ("Force", "RollbackConfig")
    fixed = ("ActiveCertificateAuthorityId",)
    attributes = {
        "Arn": "arn",
        "CertificateAuthority.Active.ActivatedBy": "certificateAuthority.active.activatedBy",
        "CertificateAuthority.Active.Id": "certificateAuthority.active.id",
        "CertificateAuthority.Data": "certificateAuthority.data",
        "CertificateAuthorityData": "certificateAuthority.data",
        "ClusterSecurityGroupId": "resourcesVpcConfig.clusterSecurityGroupId",
        "EncryptionConfigKeyArn": "encryptionConfig.provider.keyArn",
        "Endpoint": "endpoint",
        "Id": "id",
        "KubernetesNetworkConfig.ServiceIpv6Cidr": "kubernetesNetworkConfig.serviceIpv6Cidr",
        "OpenIdConnectIssuerUrl": "identity.oidc.issuer",
    }

    _parts = (
        *("AccessConfig", "ComputeConfig", "ControlPlaneScalingConfig", "DeletionProtection"),
        *("KubeApiServerConfig", "KubeControllerManagerConfig", "KubeSchedulerConfig"),
        *("KubernetesNetworkConfig", "RemoteNetworkConfig", "StorageConfig", "UpgradePolicy"),
        "ZonalShiftConfig",
    )
    _endpoint = ("EndpointPrivateAccess", "EndpointPublicAccess", "PublicAccessCidrs")

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        if "Logging" in wanted:
            wanted["Logging"] = _logging(wanted["Logging"])
        return wanted

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "Version"):
            version = present(request.properties, "Version")
            self._update(request, physical_id, "UpdateClusterVersion", version)
        for name in self._parts:
            if changed(request, before, name):
                value = request.properties.get(name, {})
                part = (
                    value if name == "DeletionProtection" else changes(before.get(name, {}), value)
                )
                self._update(request, physical_id, "UpdateClusterConfig", {name: part})
        if changed(request, before, "Logging"):
            wanted = _logging(request.properties.get("Logging", {}))
            self._update(request, physical_id, "UpdateClusterConfig", {"Logging": wanted})
        vpc = changes(before["ResourcesVpcConfig"], request.properties["ResourcesVpcConfig"])
        others = [name for name in vpc if name not in self._endpoint]
        for names in (self._endpoint, others):
            if part := present(vpc, *names):
                config = {"ResourcesVpcConfig": part}
                self._update(request, physical_id, "UpdateClusterConfig", config)

    def _update(
        self, request: Request, physical_id: str, operation: str, properties: Properties
    ) -> None:
        self._call(request, operation, properties, name=physical_id)
        self.wait(lambda: self.is_ready(request, physical_id))


def _logging(logging: Properties) -> dict[str, Any]:
    """Return what is logged as the API takes it, which is told what is not logged, too."""
    enabled = logging.get("ClusterLogging", {}).get("EnabledTypes", [])
    on = [each["Type"] for each in enabled]
    off = [each for each in LOG_TYPES if each not in on]
    setups = [{"types": on, "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [setup for setup in setups if setup["types"]]}
