"""Which root an AMI boots, by the AMI's name.

A flavour is a root (`ubuntu` for 22.04, `noble` for 24.04, `amazon`), or a root with the
additions of an orchestrator's AMI: `amazon-ecs`; `amazon-eks-1.35`, `ubuntu-eks-1.32` or
`noble-eks-1.34`, whose kubelet is of that minor version of Kubernetes.
"""

import re

from embedded_aws.plugins import plugins

# Documented: the names that Canonical and Amazon publish.
_FLAVOURS = (
    (
        r"ubuntu-eks/k8s_(?P<version>[\d.]+)/images/hvm-ssd(-gp3)?/"
        r"ubuntu-jammy-22\.04-amd64-server-.+",
        r"ubuntu-eks-\g<version>",
    ),
    (r"ubuntu/images/hvm-ssd(-gp3)?/ubuntu-jammy-22\.04-amd64-server-.+", "ubuntu"),
    (
        r"ubuntu-eks/k8s_(?P<version>[\d.]+)/images/hvm-ssd-gp3/"
        r"ubuntu-noble-24\.04-amd64-server-.+",
        r"noble-eks-\g<version>",
    ),
    (r"ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24\.04-amd64-server-.+", "noble"),
    (
        r"amazon-eks-node-al2023-x86_64-standard-(?P<version>[\d.]+)-.+",
        r"amazon-eks-\g<version>",
    ),
    (r"al2023-ami-ecs-hvm-.+-x86_64", "amazon-ecs"),
    (r"al2023-ami-2023.+-x86_64", "amazon"),
)


def flavour_of(ami_name: str) -> str | None:
    """Return the flavour of an AMI by its name, or None when no root stands for it."""
    others = [pair for plugin in plugins() for pair in plugin.guest_flavours().items()]
    for pattern, name in (*_FLAVOURS, *others):
        if found := re.fullmatch(pattern, ami_name):
            return found.expand(name)
    return None
