"""How a node joins by /etc/eks/bootstrap.sh, as those of Canonical's AMIs for EKS do.

Canonical's script, of which a public copy for Kubernetes before 1.27 was read, and the one of
amazon-eks-ami for Amazon Linux 2, which it follows: options with their values, in any order; what
it does not know counts as the cluster's name, if it comes first, and as nothing otherwise. Without
both of endpoint and certificate it asks EKS, by the node role. Documented by field reports: that
nodes on Ubuntu 24.04 of 1.33 and 1.34 join by it. Inferred: that its options are still these.
"""

import binascii
import re
import shlex
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from ipaddress import IPv4Network
from typing import Any

from embedded_aws.eks.addon_objects import DNS_ADDRESS

SCRIPT = "/etc/eks/bootstrap.sh"
_OPTIONS = frozenset(
    (
        *("--use-max-pods", "--b64-cluster-ca", "--apiserver-endpoint", "--kubelet-extra-args"),
        *("--aws-api-retry-attempts", "--dns-cluster-ip", "--container-runtime", "--ip-family"),
        *("--pause-container-account", "--pause-container-version", "--service-ipv6-cidr"),
        *("--enable-docker-bridge", "--docker-config-json"),
    )
)
_RUNTIMES = ("containerd", "nvidia-container-runtime")
_ASSIGNMENT = re.compile(r"(?:export +)?(\w+)=(.*)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Of a kubelet whose configuration does not say it.
_MOST_PODS = 110


class BadBootstrap(Exception):
    """The script ends without starting a kubelet; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A call of the script.

    Attributes:
        cluster: name of the cluster.
        options: values by option, with its dashes.
    """

    cluster: str
    options: Mapping[str, str]

    @property
    def asks_eks(self) -> bool:
        """Whether it calls DescribeCluster for what it is not given."""
        return not (
            self.options.get("--apiserver-endpoint") and self.options.get("--b64-cluster-ca")
        )

    @property
    def spec(self) -> dict[str, Any]:
        """What it makes of that for the kubelet, as a NodeConfig of nodeadm would have it."""
        kubelet: dict[str, Any] = {"flags": self.options.get("--kubelet-extra-args", "").split()}
        if self.options.get("--use-max-pods", "true") != "true":
            kubelet["config"] = {"maxPods": _MOST_PODS}
        return {"kubelet": kubelet}

    def wrong_for(self, cluster: Mapping[str, Any]) -> str | None:
        """Return what of the call does not lead to a node of a cluster, or None."""
        if self.cluster != cluster["name"]:
            return f"{SCRIPT} is called for the cluster {self.cluster!r}, not {cluster['name']!r}"
        services = IPv4Network(cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"])
        # A node would join with another, and its pods find no names. Without it, the script asks
        # EKS, or else guesses by the range of the VPC.
        wanted = {"--dns-cluster-ip": str(services[DNS_ADDRESS])}
        if self.asks_eks:
            wanted = {option: value for option, value in wanted.items() if option in self.options}
        else:
            wanted["--apiserver-endpoint"] = cluster["endpoint"]
            wanted["--b64-cluster-ca"] = cluster["certificateAuthority"]["data"]
        for option, value in wanted.items():
            if self.options.get(option) != value:
                return f"{option} of {SCRIPT} is {self.options.get(option)!r}, not {value!r}"
        return None


def bootstrap_of(template: Mapping[str, Any]) -> Bootstrap | None:
    """Return how the user data of a launch template call the script, or None.

    Args:
        template: its data.

    Raises:
        BadBootstrap: the script refuses what it is given.
    """
    for script in _scripts(template):
        for words in _commands(script):
            if words[0] == SCRIPT:
                return _called(words[1:])
    return None


def _scripts(template: Mapping[str, Any]) -> Iterator[str]:
    """Yield the shell scripts of user data, which may be one itself."""
    data = b64decode(str(template.get("UserData", "")))
    if data.startswith(b"#!"):
        yield data.decode(errors="replace")
        return
    for part in message_from_bytes(data).walk():
        if part.get_content_type() == "text/x-shellscript":
            body = part.get_payload(decode=True)
            yield body.decode(errors="replace") if isinstance(body, bytes) else ""


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command, with the variables that the script sets by plain values."""
    variables: dict[str, str] = {}
    for line in script.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        filled = [
            _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], found[0]), word)
            for word in words
        ]
        if assigned := _ASSIGNMENT.fullmatch(" ".join(filled)):
            variables[assigned[1]] = assigned[2]
        elif filled:
            yield filled[1:] if filled[0] in ("sudo", "exec") and len(filled) > 1 else filled


def _called(words: list[str]) -> Bootstrap:
    options: dict[str, str] = {}
    others: list[str] = []
    left = iter(words)
    for word in left:
        if word in ("-h", "--help"):
            raise BadBootstrap(f"{SCRIPT} prints its help and ends")
        if word not in _OPTIONS:
            others.append(word)
            continue
        value = next(left, None)
        if value is None:
            raise BadBootstrap(f"{word} of {SCRIPT} has no value")
        options[word] = value
    if not others or not others[0]:
        raise BadBootstrap(f"{SCRIPT} is called without the name of the cluster")
    _check(options)
    return Bootstrap(cluster=others[0], options=options)


def _check(options: Mapping[str, str]) -> None:
    runtime = options.get("--container-runtime", _RUNTIMES[0])
    if runtime not in _RUNTIMES:
        raise BadBootstrap(f"{SCRIPT} says: Container runtime {runtime} is not supported.")
    # Clusters here have IPv4: a node has no other address to register with.
    if options.get("--ip-family", "ipv4") != "ipv4" or options.get("--service-ipv6-cidr"):
        raise BadBootstrap(f"{SCRIPT} is called for IPv6, which the cluster does not have")
    try:
        b64decode(options.get("--b64-cluster-ca", ""), validate=True)
    except binascii.Error as error:
        raise BadBootstrap(f"--b64-cluster-ca of {SCRIPT} is no base64: {error}") from error
