#!/usr/bin/env bash
# The distribution at its pinned release, with what every image needs.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 10-base

# The files of the image, its pins and what it is. They were uploaded by a user of the build
# instance: who owns them and whom they may be written by is decided here.
install_files() {
  local file mode
  cd /tmp/trainshed
  while read -r file; do
    mode=644
    if [[ -x $file ]]; then mode=755; fi
    install -D -o root -g root -m "$mode" "$file" "/$file"
  done < <(find etc opt -type f)
  install -D -o root -g root -m 644 -t "$HERE" versions.json image.json
  cd /
}

# Upgrades of the distributions' own accord are off, now and in the image, because versions are
# pinned: driver, kernel and container images are tested together, and an upgrade at 6 in the morning
# parts them in the middle of a job. Security updates come as a new image.
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
    die distribution "Amazon Linux $release cannot be read" "check release in versions.json"
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
# by the key that the image trusts already.
pin_ubuntu() {
  local release
  release=$(pin base release)
  rm -f /etc/apt/sources.list.d/ubuntu.sources
  install -m 644 /dev/stdin /etc/apt/sources.list <<EOF
deb [signed-by=$UBUNTU_KEYS] https://snapshot.ubuntu.com/ubuntu/$release jammy main universe
deb [signed-by=$UBUNTU_KEYS] https://snapshot.ubuntu.com/ubuntu/$release jammy-updates main universe
deb [signed-by=$UBUNTU_KEYS] https://snapshot.ubuntu.com/ubuntu/$release jammy-security main universe
EOF
  logged "$WORK/apt" apt-get update --error-on=any -o Acquire::Retries=3 ||
    die distribution "Ubuntu's snapshot $release cannot be read" "check release in versions.json"
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

configure_agents() {
  install -D -m 644 /dev/stdin /opt/aws/amazon-cloudwatch-agent/etc/amazon-cloudwatch-agent.json \
    <<<"$METRICS"
  enable_units amazon-cloudwatch-agent.service
  if [[ ! -e /etc/systemd/system/replace-ssm-agent.service ]]; then
    enable_units amazon-ssm-agent.service
  fi
}

# Ubuntu's agent is a snap, which refreshes itself whenever it likes; the pinned deb refuses to be
# installed beside it. The build may have come in by it (Session Manager), and would end with it:
# so they change places while the machine boots. 18-after-reboot sees to the rest.
replace_snap_agent_at_boot() {
  local file
  file=$(fetch_archive ssm-agent)
  install -m 644 "$file" /var/tmp/trainshed/ssm-agent.deb
  logged "$WORK/snap" systemctl disable snap.amazon-ssm-agent.amazon-ssm-agent.service
  install -D -m 644 /dev/stdin /etc/systemd/system/replace-ssm-agent.service <<'EOF'
[Unit]
Description=The pinned Session Manager agent in place of the snap
Wants=network-online.target
After=network-online.target snapd.seeded.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=snap remove --purge amazon-ssm-agent
ExecStart=dpkg --install /var/tmp/trainshed/ssm-agent.deb

[Install]
WantedBy=multi-user.target
EOF
  enable_units replace-ssm-agent.service
}

install_aws_cli() {
  local archive
  archive=$(fetch_archive aws-cli)
  unzip -q "$archive" -d "$WORK"
  logged "$WORK/aws-cli" "$WORK/aws/install" --update
}

# The link-local clock of EC2 needs no network and is the same everywhere: nodes of one job agree.
configure_time_sync() {
  if is_ubuntu; then
    sed -i 's/^\(pool\|server\) /# &/' /etc/chrony/chrony.conf
    install -D -m 644 /dev/stdin /etc/chrony/sources.d/amazon.sources <<<"$AMAZON_TIME"
    enable_units chrony.service
  else
    # Amazon Linux comes with it: amazon-chrony-config.
    install -D -m 644 /dev/stdin /etc/chrony.d/amazon.sources <<<"$AMAZON_TIME"
    enable_units chronyd.service
  fi
}

readonly UBUNTU_KEYS=/usr/share/keyrings/ubuntu-archive-keyring.gpg
# What EC2 cannot see from outside; training that fails of a full disk or memory shows here. The
# instance's role needs cloudwatch:PutMetricData.
# shellcheck disable=SC2016  # the agent's variable
readonly METRICS='{
  "agent": {"metrics_collection_interval": 60, "run_as_user": "root"},
  "metrics": {
    "namespace": "trainshed",
    "append_dimensions": {"InstanceId": "${aws:InstanceId}"},
    "metrics_collected": {
      "mem": {"measurement": ["mem_used_percent"]},
      "disk": {
        "measurement": ["disk_used_percent", "disk_inodes_free"],
        "resources": ["/", "/scratch"],
        "drop_device": true
      }
    }
  }
}'
readonly AMAZON_TIME='server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4'

# What later scripts and the first boot call; their versions are the pinned release's.
TOOLS=(ca-certificates gcc make dkms pciutils mdadm xfsprogs unzip tar python3)

install_files
stop_upgrades
if is_ubuntu; then pin_ubuntu; else pin_amazon_linux; fi
upgrade
install_tools distribution "${TOOLS[@]}"
parts=(chrony cloudwatch-agent)
if is_ubuntu && command -v snap >/dev/null && snap list amazon-ssm-agent >/dev/null 2>&1; then
  replace_snap_agent_at_boot
else
  parts+=(ssm-agent)
fi
kind=$(pin aws-cli kind)
if [[ $kind == archive ]]; then install_aws_cli; else parts+=(aws-cli); fi
install_components "${parts[@]}"
configure_time_sync
configure_agents
