#!/usr/bin/env bash
# The EFA driver and libraries, by Amazon's own installer.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 20-efa

# Before Lustre, as ParallelCluster's cookbook learnt: the installer replaces rdma-core.
archive=$(fetch_archive efa-installer)
tar --extract --file "$archive" --directory "$WORK"

# -y: the license. --skip-limit-conf: our limits are in one place, /etc/security/limits.d and
# /etc/systemd/system.conf.d. --no-verify: it would look for an EFA device, which the build instance
# need not have. The libraries come along (no --minimal): `fi_info` is how a node is examined.
cd "$WORK/aws-efa-installer"
logged "$WORK/efa" ./efa_installer.sh -y --skip-limit-conf --no-verify

# It registers memory of NVIDIA GPUs with EFA and loads the nvidia module at boot: on other AMIs
# that fails, and with the proprietary driver, too, whose symbols it may not use.
if [[ $TRAINSHED_ACCELERATOR != nvidia || $TRAINSHED_NVIDIA_DRIVER != open ]]; then
  if is_ubuntu; then
    dpkg --purge --force-depends efa-nv-peermem 2>/dev/null || true
  else
    rpm --erase --nodeps efa-nv-peermem 2>/dev/null || true
  fi
fi
require_dkms_modules efa-installer efa
