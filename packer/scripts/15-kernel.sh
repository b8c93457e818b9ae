#!/usr/bin/env bash
# The one kernel of the AMI, with its headers, held.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 15-kernel

# Metapackages of Ubuntu whose only content is to follow the newest kernel.
stop_following_new_kernels() {
  local followers
  followers=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 'linux-*aws*' 2>/dev/null |
    awk '$1 == "installed" && $2 !~ /[0-9]+\.[0-9]+\.[0-9]+-[0-9]+/ { print $2 }') || true
  if [[ -n $followers ]]; then
    # shellcheck disable=SC2086  # one argument a package
    logged "$WORK/apt" apt-get purge --assume-yes $followers
  fi
}

# ECS and EKS AMIs lock their own kernel.
release_packages 'linux-*' 'kernel*'
if is_ubuntu; then stop_following_new_kernels; fi
install_components kernel
kernel=$(pin base kernel)
[[ -e /boot/vmlinuz-$kernel ]] || die kernel "its packages install no /boot/vmlinuz-$kernel" \
  "let kernel of the base and the packages of component kernel agree in pins.json"
boot_by_default "$kernel"
