"""A node group of a cluster of EKS, and what its nodes are told."""

import json
import shlex
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from eks_bench import EksBench, until

from embedded_aws.faults import Fault

NODE_POLICIES = [
    f"arn:aws:iam::aws:policy/{name}"
    for name in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
]
ONE = {"minSize": 1, "maxSize": 2, "desiredSize": 1}


class NodeBench:
    """A node group of a cluster of a test."""

    def __init__(self, bench: EksBench, **fields: Any) -> None:
        self.bench, self.eks, self.ec2 = bench, bench.eks, bench.ec2
        self.cluster = bench.create_cluster(**fields)
        self.named = {"clusterName": bench.name, "nodegroupName": "nodes"}
        self.role = bench.role("ec2.amazonaws.com", *NODE_POLICIES)
        self.cluster_group = self.cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]

    def fields(self, **fields: Any) -> dict[str, Any]:
        """Return the arguments of CreateNodegroup."""
        usual = {"nodeRole": self.role, "subnets": self.bench.subnets[:1], "scalingConfig": ONE}
        return {**self.named, **usual, **fields}

    def described(self) -> Any:
        return self.eks.describe_nodegroup(**self.named)["nodegroup"]

    def create(self, **fields: Any) -> Any:
        """Create the node group and return it once it has settled."""
        self.eks.create_nodegroup(**self.fields(**fields))
        return self.settled()

    def settled(self) -> Any:
        until(lambda: self.described()["status"] not in ("CREATING", "UPDATING"))
        return self.described()

    def template(self, **data: Any) -> dict[str, str]:
        """Create a launch template and return it as node groups name it."""
        created = self.ec2.create_launch_template(
            LaunchTemplateName=self.bench.name, LaunchTemplateData=data
        )["LaunchTemplate"]
        return {"id": created["LaunchTemplateId"], "version": "1"}

    def user_data(self, kubelet: object = None, **changes: str) -> str:
        """Return user data that join the cluster, with some other values of its block.

        Args:
            kubelet: what the NodeConfig says of the kubelet.
            changes: of the block of the cluster.
        """
        block = {
            "name": self.bench.name,
            "apiServerEndpoint": self.cluster["endpoint"],
            "certificateAuthority": self.cluster["certificateAuthority"]["data"],
            "cidr": self.cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
            **changes,
        }
        lines = "".join(f"    {name}: {value}\n" for name, value in block.items())
        head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\n'
        part = "Content-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\n"
        own = f"  kubelet: {json.dumps(kubelet)}\n" if kubelet else ""
        config = f"{part}kind: NodeConfig\nspec:\n  cluster:\n{lines}{own}\n--B--\n"
        return b64encode(f"{head}{config}".encode()).decode()

    def script(self, *more: str, name: str | None = None, **changes: str | None) -> str:
        """Return user data that call Canonical's script, with some other values.

        Args:
            more: further words.
            name: of the cluster, by default the right one.
            changes: values by option, without its first dashes; None leaves the option out.
        """
        options = {
            "apiserver_endpoint": self.cluster["endpoint"],
            "b64_cluster_ca": self.cluster["certificateAuthority"]["data"],
            "dns_cluster_ip": "172.20.0.10",
            **changes,
        }
        words = [self.bench.name if name is None else name]
        for option, value in options.items():
            if value is not None:
                words += [f"--{option.replace('_', '-')}", shlex.quote(value)]
        call = " ".join(("/etc/eks/bootstrap.sh", *words, *more))
        return b64encode(f"#!/bin/bash\nset -e\n{call}\n".encode()).decode()

    def fail_launches(self, code: str, message: str, when: Mapping[str, str] | None = None) -> None:
        """Have EC2 refuse launches with some parameters, by default those in the subnet."""
        self.bench.aws.fail(
            Fault(
                service="ec2",
                operation="RunInstances",
                code=code,
                message=message,
                count=None,
                when=when or {"SubnetId": self.bench.subnets[0]},
            )
        )

    def instances(self) -> list[Any]:
        """Return the instances of the node group that run."""
        found = self.ec2.describe_instances(
            Filters=[
                {"Name": "tag:eks:cluster-name", "Values": [self.bench.name]},
                {"Name": "instance-state-name", "Values": ["running"]},
            ]
        )
        return [each for page in found["Reservations"] for each in page["Instances"]]
