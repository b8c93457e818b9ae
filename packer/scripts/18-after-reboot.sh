#!/usr/bin/env bash
# What needs the pinned kernel to be running.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 18-after-reboot

require_pinned_kernel
remove_other_kernels

# Ubuntu: 12-agents had a snap replaced while the machine booted.
if [[ -e /etc/systemd/system/replace-ssm-agent.service ]]; then
  # Returns when it is done, whether it still runs or has long ended.
  systemctl start replace-ssm-agent.service || die ssm-agent "the snap could not be replaced" \
    "see journalctl -u replace-ssm-agent on an instance that -on-error=ask keeps"
  version=$(pin ssm-agent version)
  require_installed ssm-agent amazon-ssm-agent "$version"
  hold_packages amazon-ssm-agent
  logged "$WORK/units" systemctl disable replace-ssm-agent.service
  rm /etc/systemd/system/replace-ssm-agent.service
  enable_units amazon-ssm-agent.service
fi
