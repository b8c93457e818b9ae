#!/usr/bin/env bash
# The one kernel of the AMI, and the modules that dkms builds for it.

# Fail unless the machine runs the pinned kernel: dkms builds for the running one, and a driver
# built for another is a node without its accelerator.
require_pinned_kernel() {
  local pinned
  pinned=$(pin base kernel)
  [[ $(uname -r) == "$pinned" ]] || die kernel "this machine runs $(uname -r) and not $pinned" \
    "see why the reboot after 15-kernel did not choose it"
}

# Remove every other kernel, so that nothing can boot it or build for it.
remove_other_kernels() {
  local pinned others
  pinned=$(pin base kernel)
  if is_ubuntu; then
    # Names hold the version: linux-headers-6.8.0-1063-aws needs linux-aws-6.8-headers-6.8.0-1063.
    others=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 'linux-*' 2>/dev/null |
      awk -v keep="${pinned%-*}" '$1 == "installed" && $2 ~ /-[0-9]+\.[0-9]+\.[0-9]+-[0-9]+/ &&
        index($2, keep) == 0 { print $2 }') || true
  else
    others=$(rpm --query --all --queryformat '%{NAME} %{VERSION}-%{RELEASE} %{NAME}-%{VERSION}-%{RELEASE}\n' 'kernel*' |
      awk -v keep="${pinned%.*}" '$1 ~ /^kernel[0-9.]*(-core|-devel|-modules.*)?$/ && $2 != keep { print $3 }')
  fi
  [[ -n $others ]] || return 0
  if is_ubuntu; then
    xargs apt-get purge --assume-yes <<<"$others" >"$WORK/kernels" 2>&1 || _keep_kernels "$others"
  else
    xargs dnf remove --assumeyes <<<"$others" >"$WORK/kernels" 2>&1 || _keep_kernels "$others"
  fi
}

_keep_kernels() {
  cat "$WORK/kernels"
  die kernel "these cannot be removed: ${1//$'\n'/ }" "see the package manager's output above"
}

# Fail unless the dkms modules of a name are built and installed for the pinned kernel:
# require_dkms_modules COMPONENT PATTERN
#
# A package installs all the same when its module does not compile, so dkms itself is asked.
require_dkms_modules() {
  local component=$1 pattern=$2 pinned name version state any=
  pinned=$(pin base kernel)
  # Builds what was registered while something it needs was missing; says nothing new otherwise.
  dkms autoinstall -k "$pinned" >"$WORK/dkms" 2>&1 || cat "$WORK/dkms"
  while read -r name version; do
    # shellcheck disable=SC2053  # a pattern is meant
    [[ $name == $pattern ]] || continue
    any=1
    state=$(dkms status -m "$name" -v "$version" -k "$pinned")
    [[ $state == *': installed'* ]] || die "$component" \
      "dkms module $name/$version is not installed for $pinned (${state:-never built})" \
      "read /var/lib/dkms/$name/$version/build/make.log"
  done < <(dkms status | sed -E 's|^([^/,]+)[/,] *([^,:]+).*|\1 \2|' | sort -u)
  [[ -n $any ]] || die "$component" "dkms knows no module $pattern" \
    "see whether its package still has one"
}

# Have the boot loader start one kernel, with the arguments of /etc/trainshed/kernel-arguments: boot_by_default KERNEL
#
# Both boot loaders choose the newest kernel by themselves, which the source AMI may have.
boot_by_default() {
  local kernel=$1 arguments
  arguments=$(sed '/^#/d' /etc/trainshed/kernel-arguments | paste --serial --delimiters=' ')
  if command -v grubby >/dev/null; then
    logged "$WORK/grub" grubby --set-default="/boot/vmlinuz-$kernel"
    logged "$WORK/grub" grubby --update-kernel="/boot/vmlinuz-$kernel" --args="$arguments"
  elif command -v update-grub >/dev/null; then
    # The files of this folder are read in order, and the AMI's own sets the variable before.
    install -D -m 644 /dev/stdin /etc/default/grub.d/90-trainshed.cfg <<EOF
GRUB_DISABLE_SUBMENU=y
GRUB_DEFAULT="Ubuntu, with Linux $kernel"
GRUB_CMDLINE_LINUX_DEFAULT="\$GRUB_CMDLINE_LINUX_DEFAULT $arguments"
EOF
    logged "$WORK/grub" update-grub
  fi
}
