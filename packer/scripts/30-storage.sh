#!/usr/bin/env bash
# The clients of shared storage: of Lustre the one that matches the pinned kernel, of NFS, of EFS
# where there is one for the base, and of S3.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 30-storage

kernel=$(pin base kernel)
# Ubuntu's modules are a package a kernel: one for another kernel would install and never load.
packages=$(pin lustre-client packages)
if is_ubuntu && ! grep -q "^lustre-client-modules-$kernel " <<<"$packages"; then
  die lustre-client "its packages are not those of kernel $kernel" \
    "pin lustre-client-modules-$kernel in pins.json, or the kernel that it has modules for"
fi
install_components lustre-client nfs-client mountpoint-s3
if has_component efs-utils; then
  install_components efs-utils
fi
# The NFS client brings the port mapper, which listens on each address. NFS 4, which EFS and OpenZFS
# are mounted with, does without (nfs(5), "Transport methods").
logged "$WORK/mask" systemctl mask --now rpcbind.socket rpcbind.service
