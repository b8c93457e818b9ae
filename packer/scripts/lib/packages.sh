#!/usr/bin/env bash
# Packages at exactly the pinned version, held there, and nothing instead of them.

readonly VERSION_LOCKS=/etc/dnf/plugins/versionlock.list

# Install a component from wherever its source is: install_component COMPONENT
install_component() {
  local component=$1 kind
  kind=$(pin "$component" kind)
  case $kind in
    archive) _install_package_file "$component" ;;
    distribution) install_packages "$component" ;;
    *)
      add_repository "$component"
      install_packages "$component"
      ;;
  esac
}

# Install a component's packages, or only those of them that are named, and hold them:
# install_packages COMPONENT [PACKAGE...]
install_packages() {
  local component=$1 packages name version specifiers=()
  local -A pinned=()
  packages=$(pin "$component" packages)
  [[ -n $packages ]] || die "$component" "has no packages" "add them to versions.json"
  while read -r name version; do
    pinned[$name]=$version
  done <<<"$packages"
  shift
  if (($# == 0)); then set -- "${!pinned[@]}"; fi
  for name in "$@"; do
    version=${pinned[$name]:-}
    if [[ -z $version ]]; then
      die "$component" "no version of $name is pinned" "add it to packages in versions.json"
    fi
    if is_ubuntu; then specifiers+=("$name=$version"); else specifiers+=("$name-$version"); fi
  done
  release_packages "$@"
  if ! _install "${specifiers[@]}"; then
    for name in "$@"; do
      _require_offered "$component" "$name" "${pinned[$name]}"
    done
    _refuse_installation "$component"
  fi
  for name in "$@"; do
    require_installed "$component" "$name" "${pinned[$name]}"
  done
  hold_packages "$@"
}

# Install what is not there yet of the tools that the pinned distribution brings; the release they
# come from is their version: install_tools COMPONENT PACKAGE...
install_tools() {
  local component=$1 name missing=()
  shift
  for name in "$@"; do
    [[ -n $(_installed_versions "$name") ]] || missing+=("$name")
  done
  ((${#missing[@]} == 0)) || _install "${missing[@]}" || _refuse_installation "$component"
}

# Fail unless a package is there at its pinned version: require_installed COMPONENT PACKAGE VERSION
require_installed() {
  local component=$1 name=$2 expected=$3 installed version
  installed=$(_installed_versions "$name")
  # Kernels may be there several times.
  for version in $installed; do
    # rpm: the epoch counts only when it is pinned. Both: a pin may leave out a package's release.
    if ! is_ubuntu && [[ $expected != *:* ]]; then version=${version#*:}; fi
    if [[ $version == "$expected" || $version == "$expected"-* ]]; then return; fi
  done
  die "$component" "$name is installed at ${installed:-no version} and not at $expected" \
    "see which package demanded the other version in the output above"
}

# Keep packages at the version they have, whatever anyone upgrades later.
hold_packages() {
  if is_ubuntu; then
    logged "$WORK/hold" apt-mark hold "$@"
  else
    logged "$WORK/hold" dnf versionlock add --assumeyes --quiet "$@"
  fi
}

# Let packages change again that the base image or an earlier bake holds: release_packages PATTERN...
release_packages() {
  local pattern held
  if is_ubuntu; then
    held=$(apt-mark showhold "$@")
    [[ -z $held ]] || xargs apt-mark unhold <<<"$held" >"$WORK/hold"
  elif [[ -e $VERSION_LOCKS ]]; then
    for pattern in "$@"; do
      while read -r held; do
        # shellcheck disable=SC2053  # a pattern is meant
        if [[ $held == $pattern-[0-9]* ]]; then
          logged "$WORK/hold" dnf versionlock delete --assumeyes --quiet "$held"
        fi
      done < <(cat "$VERSION_LOCKS")
    done
  fi
}

# Install a package that the vendor offers as a file, and not in a repository.
_install_package_file() {
  local component=$1 file name version
  file=$(fetch_archive "$component")
  version=$(pin "$component" version)
  if is_ubuntu; then
    name=$(dpkg-deb --field "$file" Package)
  else
    name=$(rpm --query --queryformat '%{NAME}' --package "$file")
  fi
  # apt reads the file as a user of its own.
  chmod 755 "$WORK"
  _install "$file" || _refuse_installation "$component"
  require_installed "$component" "$name" "$version"
  hold_packages "$name"
}

# Install files or specifiers of the system's package manager; what it says is in $WORK/install.
_install() {
  if is_ubuntu; then
    logged "$WORK/install" apt-get install --assume-yes --no-install-recommends \
      --allow-downgrades --allow-change-held-packages -o Acquire::Retries=3 \
      -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 "$@"
  else
    # Amazon Linux has packages that exclude each other: kernel-headers and kernel6.18-headers.
    logged "$WORK/install" dnf install --assumeyes --allowerasing \
      --setopt=install_weak_deps=False --setopt=retries=3 "$@"
  fi
}

# Print the installed versions of a package, rpm's with epoch; nothing when it is not installed.
_installed_versions() {
  if is_ubuntu; then
    dpkg-query --show --showformat '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
      sed -n 's/^installed //p'
  else
    rpm --query --queryformat '%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n' "$1" 2>/dev/null |
      grep -v 'is not installed'
  fi || true
}

_require_offered() {
  local component=$1 name=$2 version=$3 offered
  if is_ubuntu; then
    offered=$(apt-cache madison "$name" | awk -F' *[|] *' '{ print $2 }' | sort -uV)
    if grep -Fqx "$version" <<<"$offered"; then return; fi
  else
    if [[ -n $(dnf --quiet repoquery "$name-$version" 2>/dev/null) ]]; then return; fi
    offered=$(dnf --quiet repoquery --queryformat '%{version}-%{release}' "$name" 2>/dev/null |
      sort -uV)
  fi
  offered=${offered//$'\n'/, }
  die "$component" "version $version of $name is not offered, but ${offered:-no other either}" \
    "pin one that is in versions.json"
}

# Say why an installation failed, going by what apt or dnf wrote.
_refuse_installation() {
  local component=$1 log=$WORK/install
  local compare="do not install it; compare fingerprint in versions.json with the vendor's page"
  if grep -Eq '404 +Not Found|Status code: 404' "$log"; then
    die "$component" "a package answered 404 ($(_told_by "$log"))" \
      "check the versions in versions.json; the vendor may have withdrawn one"
  elif grep -Eqi 'gpg check failed|public key for .* is not installed|not correct for this package' \
    "$log"; then
    die "$component" "unknown key: a package is signed by another key than the pinned one" "$compare"
  elif grep -Eqi 'hash sum mismatch|bad signature|NOT OK|digest mismatch|checksum' "$log"; then
    die "$component" "bad signature: a package is not what its vendor signed" "$compare"
  fi
  die "$component" "its packages cannot be installed ($(_told_by "$log"))" \
    "see the package manager's output above"
}
