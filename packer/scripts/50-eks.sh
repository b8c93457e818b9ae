#!/usr/bin/env bash
# The EKS node: nodeadm or Canonical's bootstrap, and containerd.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 50-eks

require_command() {
  command -v "$1" >/dev/null || die eks "the source image has no $1" \
    "take an EKS image as source_amis.eks in versions.json"
}

# Kubernetes, containerd and nodeadm are those of the source image, which is pinned by name: they
# are released together, against one Kubernetes version.
if is_ubuntu; then
  # The one with Canonical's kubelet; not seen running on Gaudi.
  require_command containerd
  require_command /etc/eks/bootstrap.sh
  # Its bootstrap takes /etc/containerd/config.toml as it finds it. SystemdCgroup as the kubelet
  # has it; bin_dir and conf_dir are where the VPC CNI puts itself.
  install -D -m 644 /dev/stdin /etc/containerd/config.toml <<'EOF'
version = 2

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/opt/cni/bin"
conf_dir = "/etc/cni/net.d"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "habana"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.habana]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.habana.options]
BinaryName = "/usr/bin/habana-container-runtime"
SystemdCgroup = true
EOF
  # Habana's device plugin hands out the cards; the runtime must not add all of them to every pod
  # (docs.habana.ai, Kubernetes installation).
  sed -i -e 's/^#* *\(mount_accelerators\) *=.*/\1 = false/' \
    -e 's/^#* *\(visible_devices_all_as_default\) *=.*/\1 = false/' \
    /etc/habana-container-runtime/config.toml
else
  require_command nodeadm
  require_command kubelet
  require_command containerd
  # nodeadm writes containerd's configuration at boot; where it finds
  # /usr/bin/nvidia-container-runtime it makes that the default runtime. Neuron needs none.
  enable_units nodeadm-config.service nodeadm-run.service
fi
enable_units containerd.service
