#!/usr/bin/env bash
# NVIDIA GPUs: driver, fabric manager, persistence and container runtime.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 40-nvidia

require_pinned_kernel

# Open modules need a Turing GPU or later, and Blackwell needs them; V100 (p3, p3dn) takes only the
# proprietary ones, of the 580 branch at the latest.
case $TRAINSHED_NVIDIA_DRIVER in
  open) chosen='kmod-nvidia-open-dkms|nvidia-dkms-[0-9]+-open' ;;
  proprietary) chosen='kmod-nvidia-latest-dkms|nvidia-dkms-[0-9]+' ;;
  *) die nvidia-driver "is to be '$TRAINSHED_NVIDIA_DRIVER'" "say open or proprietary" ;;
esac

# Before the driver: were nouveau loaded, nvidia could not be.
install -m 644 /dev/stdin /etc/modprobe.d/trainshed-nouveau.conf <<'EOF'
blacklist nouveau
options nouveau modeset=0
EOF

driver=$(pin nvidia-driver version)
fabric_manager=$(pin nvidia-fabric-manager version)
if [[ $driver != "$fabric_manager" ]]; then
  die nvidia-fabric-manager "has version $fabric_manager and the driver $driver" \
    "pin both alike in pins.json; NVSwitch machines refuse anything else"
fi

# The pins leave out the packages of the other modules.
packages=$(pin nvidia-driver packages | cut -d ' ' -f 1)
grep -Eqx "$chosen" <<<"$packages" ||
  die nvidia-driver "has no package $chosen" "pin it in pins.json"
install_components nvidia-driver
# nvlsm is the subnet manager of the fifth NVLink (P6); the fabric manager starts it where it is
# needed, and it talks to the switches by ib_umad, which nothing else loads.
install_components nvidia-fabric-manager nvidia-nvlsm nvidia-container-toolkit
install -m 644 /dev/stdin /etc/modules-load.d/trainshed-nvlsm.conf <<<ib_umad

# efa-nv-peermem came with EFA and needs this driver's symbols; it is built now.
require_dkms_modules nvidia-driver 'nvidia*'
modules=$(dkms status)
if [[ $modules == *efa-nv-peermem* ]]; then
  require_dkms_modules efa-installer 'efa-nv-peermem'
fi

# GDRCopy is built against this driver's sources. Its package's own service comes after the agents;
# ours loads it before them.
if has_component gdrcopy; then
  install_components gdrcopy
  require_dkms_modules gdrcopy gdrdrv
  systemctl disable gdrcopy.service 2>/dev/null || true
  enable_units trainshed-gdrcopy.service
fi

# Not on EKS: there the GPU operator and AWS's add-ons for metrics and node health each have a DCGM
# in a container, and several would take the GPUs' counters from each other.
if has_component nvidia-dcgm; then
  install_components nvidia-dcgm nvidia-dcgm-exporter
  enable_units nvidia-dcgm.service
  # Packages of Debian's kind enable and start what they bring; this is started by the first boot.
  logged "$WORK/units" systemctl disable --now nvidia-dcgm-exporter.service
fi

# Ubuntu's unit of the daemon starts it without persistence mode, and nothing enables it; NVIDIA's
# packages had one like it. This says for either what is wanted.
if is_ubuntu; then
  install -D -m 644 /dev/stdin /etc/systemd/system/nvidia-persistenced.service.d/90-trainshed.conf <<'EOF'
[Service]
ExecStart=
ExecStart=/usr/bin/nvidia-persistenced --verbose

[Install]
WantedBy=multi-user.target
EOF
fi
# The fabric manager exits with an error where there is no NVSwitch; the condition in
# /etc/systemd/system/nvidia-fabricmanager.service.d skips it there.
enable_units nvidia-fabricmanager.service nvidia-persistenced.service trainshed-gpu-clocks.service

# For Docker, ECS and Batch. EKS: nodeadm finds nvidia-container-runtime and writes it itself; for
# Canonical's bootstrap, 50-eks does.
merge_json /etc/docker/daemon.json '{
  "default-runtime": "nvidia",
  "runtimes": {"nvidia": {"path": "/usr/bin/nvidia-container-runtime", "args": []}}
}'
