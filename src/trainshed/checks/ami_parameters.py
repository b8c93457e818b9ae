"""What the names of AWS's SSM parameters for AMIs say about their operating system."""

import re

from trainshed.checks.software import LAST_NEURON_SDK_ON_UBUNTU_22

# Not "amazon-linux-2023"; and AWS's parameters for the distribution itself say "amzn2".
_AMAZON_LINUX_2 = re.compile(r"amazon-linux-2(?![0-9])|/amzn2-")
_UBUNTU_20 = re.compile(r"ubuntu-20\.04|/ubuntu/server/(?:20\.04|focal)/")
_NEURON_FRAMEWORK = re.compile(r"/aws/service/neuron/dlami/([a-z-]+-[0-9][0-9.]*)/")


def names_amazon_linux_2(parameter: str) -> bool:
    """Whether a parameter is for AMIs of Amazon Linux 2."""
    return bool(_AMAZON_LINUX_2.search(parameter))


def names_ubuntu_20(parameter: str) -> bool:
    """Whether a parameter is for AMIs of Ubuntu 20.04."""
    return bool(_UBUNTU_20.search(parameter))


def ended_neuron_parameter(parameter: str) -> str | None:
    """Say why AWS puts no new AMI under a parameter of Neuron; None for any other."""
    if parameter.startswith("/aws/service/neuron/dlami/") and "/ubuntu-22.04/" in parameter:
        return f"{parameter} ended with Neuron SDK {LAST_NEURON_SDK_ON_UBUNTU_22}"
    if framework := _NEURON_FRAMEWORK.match(parameter):
        return f"{parameter} is for {framework[1]} only: the next release has another parameter"
    return None
