#!/usr/bin/env bash
# The distribution at its pinned release, with what every AMI needs.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 10-base

readonly UBUNTU_KEYS=/usr/share/keyrings/ubuntu-archive-keyring.gpg

# The files of the AMI, its recipe and what is known of the build. They were uploaded by a user of the build
# instance: who owns them and whom they may be written by is decided here. What Python compiled where
# they come from (pip does, when it installs trainshed) is not of the AMI.
install_files() {
  local file mode
  cd /tmp/trainshed
  while read -r file; do
    mode=644
    if [[ -x $file ]]; then mode=755; fi
    install -D -o root -g root -m "$mode" "$file" "/$file"
  done < <(find etc opt -type f ! -name '*.pyc')
  install -D -o root -g root -m 644 -t "$HERE" ami.json recipe.json
  cd /
}

# Upgrades of the distributions' own accord are off, now and in the AMI, because versions are
# pinned: driver, kernel and container images are tested together, and an upgrade at 6 in the morning
# parts them in the middle of a job. Security updates come as a new AMI.
stop_upgrades() {
  logged "$WORK/units" systemctl mask apt-daily.timer apt-daily.service apt-daily-upgrade.timer \
    apt-daily-upgrade.service unattended-upgrades.service \
    dnf-automatic.timer dnf-automatic-install.timer dnf-makecache.timer
  # What is just running, such as apt's own update after boot, is stopped; most are not there at all.
  systemctl stop apt-daily.service apt-daily-upgrade.service unattended-upgrades.service \
    apt-daily.timer apt-daily-upgrade.timer 2>/dev/null || true
  if command -v snap >/dev/null; then logged "$WORK/units" snap refresh --hold; fi
}

# Amazon Linux asks its mirrors for a release by name, so a release is all there is to pin.
pin_amazon_linux() {
  local release
  release=$(pin base release)
  install -D -m 644 /dev/stdin /etc/dnf/vars/releasever <<<"$release"
  logged "$WORK/dnf" dnf --assumeyes --refresh makecache ||
    die distribution "Amazon Linux $release cannot be read" "check release in pins.json"
  # Its small gpg cannot import keys: github.com/amazonlinux/amazon-linux-2023/issues/243
  if rpm --query --quiet gnupg2-minimal; then
    logged "$WORK/dnf" dnf --assumeyes swap gnupg2-minimal gnupg2-full
  fi
  # `dnf versionlock` is a plugin; nothing can be held without it.
  if [[ ! -e /etc/dnf/plugins/versionlock.conf ]]; then
    install_tools distribution 'dnf-command(versionlock)'
  fi
}

# Ubuntu's archive forgets a package when it is superseded; its snapshots do not. They are signed
# by the key that the AMI trusts already.
pin_ubuntu() {
  local release suite pocket
  release=$(pin base release)
  suite=$(pin base suite)
  rm -f /etc/apt/sources.list.d/ubuntu.sources
  for pocket in "$suite" "$suite-updates" "$suite-security"; do
    echo "deb [signed-by=$UBUNTU_KEYS] https://snapshot.ubuntu.com/ubuntu/$release $pocket main universe"
  done | install -m 644 /dev/stdin /etc/apt/sources.list
  logged "$WORK/apt" apt-get update --error-on=any -o Acquire::Retries=3 ||
    die distribution "Ubuntu's snapshot $release cannot be read" "check release in pins.json"
}

# Everything but the kernel, which 15-kernel chooses. apt's plain `upgrade` adds no package, and a
# new kernel is one.
upgrade() {
  if is_ubuntu; then
    logged "$WORK/upgrade" apt-get upgrade --assume-yes --no-install-recommends \
      -o Acquire::Retries=3 -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120
  else
    logged "$WORK/upgrade" dnf upgrade --assumeyes --exclude='kernel*'
  fi
}

# What later scripts and the first boot call; their versions are the pinned release's.
TOOLS=(ca-certificates gcc make dkms pciutils mdadm xfsprogs unzip tar python3)

install_files
stop_upgrades
if is_ubuntu; then pin_ubuntu; else pin_amazon_linux; fi
upgrade
install_tools distribution "${TOOLS[@]}"
