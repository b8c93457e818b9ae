"""AWS::EKS::Cluster.

Schemas of the types. As on AWS, each waits until the service is done: a creation for ACTIVE, a
deletion until nothing is there. Inferred: an update of several settings is several updates, one
after the other. CloudFormation's schema of schemas: an operation of a handler whose schema says
nothing else times out after 120 minutes.
"""

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.clock import seconds_here
from embedded_aws.cloudformation.handlers.handler import Handler, changed, changes, present
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource

_HANDLER_SECONDS = 7200
_POLL_SECONDS = 0.1
_GOOD, _BAD = ("ACTIVE",), ("FAILED", "CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED")


class _EksHandler(Handler):
    service = "eks"
    tagging = Tagging(target="resourceArn", by="Arn", form=dict)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        """Wait until the resource is ready."""
        self._wait(lambda: self._is_ready(request, physical_id))

    def _is_ready(self, request: Request, physical_id: str) -> bool:
        described = self._described(request, physical_id)
        if described["status"] in _BAD:
            raise HandlerError(_failure(described), "NotStabilized")
        return described["status"] in _GOOD

    def _delete(self, request: Request, physical_id: str) -> None:
        super()._delete(request, physical_id)
        self._wait(lambda: self._is_gone(request, physical_id))

    def _is_gone(self, request: Request, physical_id: str) -> bool:
        try:
            described = self._described(request, physical_id)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return True
            raise
        if described["status"] in _BAD:
            raise HandlerError(_failure(described), "NotStabilized")
        return False

    def _wait(self, done: Callable[[], bool]) -> None:
        # From memory: the words.
        ends_at = time.monotonic() + seconds_here(_HANDLER_SECONDS)
        while not done():
            if time.monotonic() > ends_at:
                raise HandlerError("Exceeded attempts to wait", "NotStabilized")
            time.sleep(_POLL_SECONDS)


def _failure(described: Any) -> str:
    """Return why a resource has failed, from its health."""
    issues = described.get("health", {}).get("issues", [])
    told = "; ".join(f"[{each['code']}] {each['message']}" for each in issues)
    return f"Resource is {described['status']}: {told}"


@resource("AWS::EKS::Cluster")
class Cluster(_EksHandler):
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
        self._wait(lambda: self._is_ready(request, physical_id))


def _logging(logging: Properties) -> dict[str, Any]:
    """Return what is logged as the API takes it, which is told what is not logged, too."""
    enabled = logging.get("ClusterLogging", {}).get("EnabledTypes", [])
    on = [each["Type"] for each in enabled]
    types = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    off = [each for each in types if each not in on]
    setups = [{"types": on, "enabled": True}, {"types": off, "enabled": False}]
    return {"clusterLogging": [setup for setup in setups if setup["types"]]}
