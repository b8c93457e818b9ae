#!/usr/bin/env bash
# Packages at exactly the pinned version, held there, and nothing instead of them.

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

# Install a component's packages, or only those of them that are named:
# install_packages COMPONENT [PACKAGE...]
install_packages() {
  local component=$1 packages name version specifiers=() names=()
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
    _require_offered "$component" "$name" "$version"
    names+=("$name")
    specifiers+=("$(_specifier "$name" "$version")")
  done
  install_exactly "$component" "${specifiers[@]}"
  for name in "${names[@]}"; do
    _require_installed "$component" "$name" "${pinned[$name]}"
  done
  hold_packages "${names[@]}"
}

# Install what is not there yet of the tools that the pinned distribution brings; the release they
# come from is their version: install_tools COMPONENT PACKAGE...
install_tools() {
  local component=$1 name missing=()
  shift
  for name in "$@"; do
    if ! _installed_version "$name" >/dev/null; then missing+=("$name"); fi
  done
  ((${#missing[@]} == 0)) || install_exactly "$component" "${missing[@]}"
}

# Install packages, files or specifiers of the system's package manager as they are written:
# install_exactly COMPONENT SPECIFIER...
install_exactly() {
  local component=$1 log=$WORK/install
  shift
  if is_ubuntu; then
    logged "$log" apt-get install --assume-yes --no-install-recommends --allow-downgrades \
      --allow-change-held-packages -o Acquire::Retries=3 -o Dpkg::Options::=--force-confold \
      -o Dpkg::Lock::Timeout=120 "$@" && return
  else
    # Amazon Linux has alternatives that exclude each other: kernel-headers and kernel6.18-headers.
    logged "$log" dnf install --assumeyes --allowerasing --setopt=install_weak_deps=False \
      --setopt=retries=3 "$@" && return
  fi
  _refuse_installation "$component" "$log"
}

# Keep packages at the version they have, whatever anyone upgrades later.
hold_packages() {
  if is_ubuntu; then
    logged "$WORK/hold" apt-mark hold "$@"
  else
    logged "$WORK/hold" dnf versionlock add --assumeyes --quiet "$@"
  fi
}

# Let packages change again that the base image or an earlier script holds; patterns are welcome.
release_packages() {
  local held
  if is_ubuntu; then
    held=$(apt-mark showhold "$@")
    [[ -z $held ]] || xargs --no-run-if-empty apt-mark unhold <<<"$held" >"$WORK/hold"
  else
    # Fails when nothing of that name is locked, which is what is wanted.
    dnf versionlock delete --assumeyes --quiet "$@" >"$WORK/hold" 2>&1 || true
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
  chmod 755 "$WORK"
  install_exactly "$component" "$file"
  _require_installed "$component" "$name" "$version"
  hold_packages "$name"
}

_specifier() {
  if is_ubuntu; then printf '%s=%s' "$1" "$2"; else printf '%s-%s' "$1" "$2"; fi
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

_require_installed() {
  local component=$1 name=$2 expected=$3 actual
  actual=$(_installed_version "$name") || actual=none
  # rpm: the epoch counts only when it is pinned. Both: a pin may leave out the release of a package.
  if ! is_ubuntu && [[ $expected != *:* ]]; then actual=${actual#*:}; fi
  [[ $actual == "$expected" || $actual == "$expected"-* ]] && return
  die "$component" "$name is installed at $actual and not at $expected" \
    "see which package demanded the other version in the output above"
}

# Print the version of an installed package; fail when it is not installed.
_installed_version() {
  if is_ubuntu; then
    [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null) == installed ]] &&
      dpkg-query --show --showformat '${Version}\n' "$1"
  else
    rpm --query --queryformat '%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n' "$1" 2>/dev/null | tail -n 1
  fi
}

_refuse_installation() {
  local component=$1 log=$2
  if grep -Eq '404 +Not Found|Status code: 404' "$log"; then
    die "$component" "a package answered 404 ($(_told_by "$log"))" \
      "check the versions in versions.json; the vendor may have withdrawn one"
  elif grep -Eqi 'gpg check failed|public key for .* is not installed|not correct for this package' \
    "$log"; then
    die "$component" "unknown key: a package is signed by another key than the pinned one" \
      "do not install it; compare fingerprint in versions.json with the vendor's page"
  elif grep -Eqi 'hash sum mismatch|bad signature|NOT OK|digest mismatch|checksum' "$log"; then
    die "$component" "bad signature: a package is not what its vendor signed" \
      "do not install it; try again later, or tell the vendor"
  fi
  die "$component" "its packages cannot be installed ($(_told_by "$log"))" \
    "see the package manager's output above"
}
