"""snapd, as far as Ubuntu's images need it: the Session Manager agent, and the kubelet of EKS."""

from vendors.package import Contents, program
from vendors.services import daemon, unit

_AGENT = "/snap/amazon-ssm-agent/current/amazon-ssm-agent"
_SERVICE = "snap.amazon-ssm-agent.amazon-ssm-agent.service"
_KUBELET, _KUBELET_SERVICE = "/snap/bin/kubelet-eks.daemon", "snap.kubelet-eks.daemon.service"
_OPTIONS = "/var/snap/kubelet-eks"
_ENABLED = "/etc/systemd/system/multi-user.target.wants"

# A build that came in by Session Manager ends when the agent does: here, too, that is a failure.
_SNAP = f"""\
set -euo pipefail
case "$*" in
  'list amazon-ssm-agent') [ -e {_AGENT} ] ;;
  'refresh --hold') ;;
  'list kubelet-eks')
    version=$({_KUBELET} --version)
    printf '%s  %s  %s\\n' Name Version Rev kubelet-eks "${{version#Kubernetes v}}" 123
    ;;
  # A newer one is in the store, and a hold does not keep a snap that is named.
  'refresh kubelet-eks') sed -i "s/Kubernetes v[0-9.]*/Kubernetes v9.9.9/" {_KUBELET} ;;
  'stop kubelet-eks') systemctl stop {_KUBELET_SERVICE} ;;
  'set kubelet-eks '*) mkdir -p {_OPTIONS}; echo "${{*:3}}" >{_OPTIONS}/options ;;
  'start --enable kubelet-eks') systemctl enable --now {_KUBELET_SERVICE} ;;
  'remove --purge amazon-ssm-agent')
    if systemctl --quiet is-active {_SERVICE}; then
      echo 'the agent that the build came in by would be stopped' >&2
      exit 1
    fi
    rm -r /snap/amazon-ssm-agent /etc/systemd/system/{_SERVICE}
    ;;
  *) echo "snap: the stub does not know $*" >&2; exit 1 ;;
esac
"""


def snapped_agent() -> Contents:
    """snapd with one snap."""
    return Contents(
        files={
            "/usr/bin/snap": program(_SNAP),
            _AGENT: daemon("SSM Agent version: 3.3.2299.0"),
            f"/etc/systemd/system/{_SERVICE}": unit("Snap of the agent", _AGENT),
        },
        links={f"{_ENABLED}/{_SERVICE}": f"/etc/systemd/system/{_SERVICE}"},
    )


# What the deb's own installation script does.
REFUSAL = (
    "if snap list amazon-ssm-agent 2>/dev/null; then"
    " echo 'amazon-ssm-agent is installed by snap, please use snap to uninstall' >&2; exit 1; fi"
)
