#!/usr/bin/env bash
# The EKS node: nodeadm or Canonical's bootstrap, and containerd.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 50-eks

require_command() {
  command -v "$1" >/dev/null || die eks "the source AMI has no $1" \
    "take an EKS AMI as source_amis.eks-VERSION in pins.json"
}

# What the file /etc/containerd/config.toml is made from when a node joins: Canonical's bootstrap
# fills in the pause image and overwrites it.
readonly TEMPLATE=/usr/local/share/eks/containerd-config.toml
readonly BOOTSTRAP=/etc/eks/bootstrap.sh

# Make the accelerator's runtime containerd's default, in the template, and leave the rest as
# Canonical has it: make_the_default RUNTIME
make_the_default() {
  local runtime=$1 tables cgroup=true
  # Both spellings of the table exist: containerd 1 and 2 name the plugin differently.
  tables=$(sed -nE 's/^ *\[(plugins\..*\.containerd)\.runtimes\.runc\] *$/\1/p' "$TEMPLATE")
  [[ -n $tables ]] || die eks "$TEMPLATE names no runtime runc to put $runtime beside" \
    "see how containerd is configured in the source AMI, and change 50-eks.sh"
  # The kubelet and the runtime must agree on who makes control groups, or pods do not start.
  if grep -q 'cgroup-driver=cgroupfs' "$BOOTSTRAP"; then cgroup=false; fi
  if grep -Eq '^ *default_runtime_name *=' "$TEMPLATE"; then
    sed -Ei 's/^( *default_runtime_name *=).*/\1 "'"$runtime"'"/' "$TEMPLATE"
  elif grep -Eq "^ *\[$tables\] *$" "$TEMPLATE"; then
    sed -Ei "\|^ *\[$tables\] *$|a default_runtime_name = \"$runtime\"" "$TEMPLATE"
  else
    printf '\n[%s]\ndefault_runtime_name = "%s"\n' "$tables" "$runtime" >>"$TEMPLATE"
  fi
  cat >>"$TEMPLATE" <<EOF

[$tables.runtimes.$runtime]
runtime_type = "io.containerd.runc.v2"

[$tables.runtimes.$runtime.options]
BinaryName = "/usr/bin/$runtime-container-runtime"
SystemdCgroup = $cgroup
EOF
}

# How many pods a node takes, the bootstrap reads in a file, and asks EC2 for a type that is not in
# it: of Gaudi's, EC2 knows nothing since July 2026. The number is that of amazon-eks-ami's file:
# 15 interfaces, each with 49 addresses for pods, and two pods with the node's own.
add_gaudi_to_max_pods() {
  local file=/etc/eks/eni-max-pods.txt
  [[ -e $file ]] || die eks "the source AMI has no $file" \
    "see where its bootstrap learns how many pods a node takes, and change 50-eks.sh"
  grep -q '^dl1\.24xlarge ' "$file" || echo 'dl1.24xlarge 737' >>"$file"
}

# The kubelet is that of the pinned AMI; the bootstrap would take a newer one from the snap store
# while the node joins. A held snap is refreshed all the same when it is named.
stop_kubelet_refresh() {
  sed -Ei 's/^( *)snap refresh kubelet-eks.*/\1true/' "$BOOTSTRAP"
  if grep -Eq '^[^#]*snap refresh' "$BOOTSTRAP"; then
    die eks "$BOOTSTRAP refreshes snaps in a way that is not known here" "teach 50-eks.sh"
  fi
}

# Kubernetes, containerd and nodeadm are those of the source AMI, which is pinned by name: they
# are released together, against one Kubernetes version.
if is_ubuntu; then
  # The one with Canonical's kubelet; not seen running with any accelerator of ours.
  require_command containerd
  require_command "$BOOTSTRAP"
  [[ -e $TEMPLATE ]] || die eks "the source AMI has no $TEMPLATE" \
    "see what its bootstrap configures containerd from, and change 50-eks.sh"
  # Canonical's own template for NVIDIA, which its bootstrap takes when it is asked to, lacks the
  # cgroup driver and the pause image (github.com/canonical/ubuntu-cloud-docs/issues/389). Neuron
  # needs no runtime.
  if [[ $TRAINSHED_ACCELERATOR != neuron ]]; then make_the_default "$TRAINSHED_ACCELERATOR"; fi
  stop_kubelet_refresh
  # Habana's device plugin hands out the cards; the runtime must not add all of them to every pod
  # (docs.habana.ai, Kubernetes installation).
  if [[ $TRAINSHED_ACCELERATOR == habana ]]; then
    add_gaudi_to_max_pods
    sed -i -e 's/^#* *\(mount_accelerators\) *=.*/\1 = false/' \
      -e 's/^#* *\(visible_devices_all_as_default\) *=.*/\1 = false/' \
      /etc/habana-container-runtime/config.toml
  fi
else
  require_command nodeadm
  require_command kubelet
  require_command containerd
  # nodeadm writes containerd's configuration at boot; where it finds
  # /usr/bin/nvidia-container-runtime it makes that the default runtime. Neuron needs none.
  enable_units nodeadm-config.service nodeadm-run.service
fi
enable_units containerd.service
