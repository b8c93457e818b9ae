#!/usr/bin/env bash
# Package repositories of the vendors, each bound to its one pinned signing key.

readonly APT_KEYRINGS=/usr/share/keyrings
readonly APT_SOURCES=/etc/apt/sources.list.d
readonly DNF_KEYS=/etc/pki/rpm-gpg
readonly DNF_REPOSITORIES=/etc/yum.repos.d

# What this bake has added, with whose key; it outlasts the reboot, and not the clean-up.
readonly ADDED=/tmp/trainshed/repositories

# Make a component's repository known and read what it offers: add_repository COMPONENT
#
# Several components may share a repository: it is named after its address, and what this bake has
# added already, with the same key, is not added again.
add_repository() {
  local component=$1 kind url name fingerprint
  kind=$(pin "$component" kind)
  fingerprint=$(pin "$component" fingerprint)
  url=$(pin "$component" url)
  url=${url%/}
  name=trainshed-$(tr -cs '[:alnum:].\n' '-' <<<"${url#https://}-$(pin "$component" suite)")
  name=${name%-}
  if grep -Fqsx "$name $fingerprint" "$ADDED"; then return; fi
  case $kind in
    apt) _add_apt_repository "$component" "$url" "$name" ;;
    dnf) _add_dnf_repository "$component" "$url" "$name" ;;
    *) die "$component" "has a source of kind '$kind', which is not a repository" \
      "make it apt or dnf in pins.json" ;;
  esac
  echo "$name $fingerprint" >>"$ADDED"
}

# Keep the definitions in the AMI but switched off: an instance is replaced by one of a newer
# AMI, never upgraded, and an upgrade by accident would part driver, kernel and container images.
disable_repositories() {
  local file
  for file in "$APT_SOURCES"/trainshed-*.sources; do
    if [[ -e $file ]]; then sed -i 's/^Enabled: .*/Enabled: no/' "$file"; fi
  done
  for file in "$DNF_REPOSITORIES"/trainshed-*.repo; do
    if [[ -e $file ]]; then sed -i 's/^enabled=.*/enabled=0/' "$file"; fi
  done
}

_add_apt_repository() {
  local component=$1 url=$2 name=$3 suite section components=
  suite=$(pin "$component" suite)
  section=$(pin "$component" section)
  # apt's flat repositories (`suite` ends with a slash) have no sections.
  if [[ -n $section ]]; then components="Components: $section"; fi
  signing_key "$component" "$WORK/key.gpg"
  install -D -m 644 "$WORK/key.gpg" "$APT_KEYRINGS/$name.gpg"
  install -D -m 644 /dev/stdin "$APT_SOURCES/$name.sources" <<EOF
Enabled: yes
Types: deb
URIs: $url
Suites: $suite
${components:+$components
}Architectures: $(dpkg --print-architecture)
Signed-By: $APT_KEYRINGS/$name.gpg
EOF
  # Only this source is read; what the others offer is known already and must not be forgotten.
  if ! logged "$WORK/apt" apt-get update --error-on=any \
    -o Dir::Etc::SourceList="$APT_SOURCES/$name.sources" -o Dir::Etc::SourceParts=- \
    -o APT::Get::List-Cleanup=0 -o Acquire::Retries=3; then
    _refuse_repository "$component" "$url" "$WORK/apt"
  fi
}

_add_dnf_repository() {
  local component=$1 url=$2 name=$3 signed_metadata=0
  signing_key "$component" "$WORK/key.asc" --armor
  install -D -m 644 "$WORK/key.asc" "$DNF_KEYS/$name"
  rpm --import "$DNF_KEYS/$name" || die "$component" "rpm refuses its signing key" \
    "check key and fingerprint in pins.json"
  # Packages are always checked. Whether the metadata is signed too is the vendor's choice.
  if curl --silent --location --fail --proto '=https' --output /dev/null \
    "$url/repodata/repomd.xml.asc"; then
    signed_metadata=1
  fi
  # module_hotfixes: NVIDIA sorts its drivers into module streams, and dnf hides a package of a
  # stream that is not enabled. Exact versions are pinned here, a stream adds nothing to that.
  install -D -m 644 /dev/stdin "$DNF_REPOSITORIES/$name.repo" <<EOF
[$name]
name=$component
baseurl=$url
enabled=1
gpgcheck=1
repo_gpgcheck=$signed_metadata
gpgkey=file://$DNF_KEYS/$name
sslverify=1
skip_if_unavailable=0
module_hotfixes=1
EOF
  if ! logged "$WORK/dnf" dnf --assumeyes --disablerepo='*' --enablerepo="$name" \
    --setopt=retries=3 makecache; then
    _refuse_repository "$component" "$url" "$WORK/dnf"
  fi
}

# Say which of its ways to fail a repository took, going by what apt or dnf wrote.
_refuse_repository() {
  local component=$1 url=$2 log=$3
  local compare="do not trust it; compare key and fingerprint in pins.json with the vendor's page"
  if grep -Eqi 'NO_PUBKEY|signing key not found' "$log"; then
    die "$component" "unknown key: $url is signed by another key than the pinned one" "$compare"
  elif grep -Eqi 'BADSIG|not signed|bad gpg signature|signature verification error' "$log"; then
    die "$component" "bad signature: $url is not what the owner of the pinned key signed" "$compare"
  elif grep -Eq '404|does not have a Release file' "$log"; then
    die "$component" "$url answered 404" "check url and suite in pins.json"
  fi
  die "$component" "$url cannot be read ($(_told_by "$log"))" \
    "check url in pins.json and the network of the build instance"
}

# The line of apt's or dnf's output that says what went wrong.
_told_by() {
  grep -Eim 1 '^ *(E:|dpkg: error|error:|.*failed|.*problem)' "$1" || tail -n 1 "$1"
}
