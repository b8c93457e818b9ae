#!/usr/bin/env bash
# Packages at exactly the pinned version, held there, and nothing instead of them.

readonly VERSION_LOCKS=/etc/dnf/plugins/versionlock.list

# Install components from wherever their sources are, and hold them: install_components COMPONENT...
install_components() {
  local component kind lines wanted=
  for component in "$@"; do
    kind=$(pin "$component" kind)
    if [[ $kind == archive ]]; then
      _install_package_file "$component"
      continue
    fi
    if [[ $kind != distribution ]]; then add_repository "$component"; fi
    lines=$(_pinned_packages "$component")
    wanted+=$lines$'\n'
  done
  [[ -z $wanted ]] || _install_pinned "${wanted%$'\n'}"
}

# Install only those packages of a component that are named, and hold them:
# install_packages COMPONENT PACKAGE...
install_packages() {
  local wanted
  wanted=$(_pinned_packages "$@")
  _install_pinned "$wanted"
}

# Install what is not there yet of the tools that the pinned distribution has; the release they
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
    # As `dnf versionlock add` writes it, which takes a second each time.
    rpm --query --queryformat '%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.*\n' "$@" >>"$VERSION_LOCKS"
  fi
}

# Let packages change again that the base or an earlier bake holds: release_packages PATTERN...
release_packages() {
  local locks pattern held
  if is_ubuntu; then
    locks=$(apt-mark showhold)
  else
    locks=$(cat "$VERSION_LOCKS" 2>/dev/null) || true
  fi
  for pattern in "$@"; do
    while read -r held; do
      # shellcheck disable=SC2053  # patterns are meant
      if is_ubuntu && [[ $held == $pattern ]]; then
        logged "$WORK/hold" apt-mark unhold "$held"
      elif ! is_ubuntu && [[ $held == $pattern-[0-9]* ]]; then
        logged "$WORK/hold" dnf versionlock delete --assumeyes --quiet "$held"
      fi
    done <<<"$locks"
  done
}

# Print `component package version` for each package of a component, or for those that are named.
_pinned_packages() {
  local component=$1 packages name version
  local -A pinned=()
  packages=$(pin "$component" packages)
  [[ -n $packages ]] || die "$component" "has no packages" "add them to pins.json"
  while read -r name version; do
    pinned[$name]=$version
  done <<<"$packages"
  shift
  if (($# == 0)); then set -- "${!pinned[@]}"; fi
  for name in "$@"; do
    version=${pinned[$name]:-}
    if [[ -z $version ]]; then
      die "$component" "no version of $name is pinned" "add it to packages in pins.json"
    fi
    printf '%s %s %s\n' "$component" "$name" "$version"
  done
}

# Install what `_pinned_packages` printed, at once: package managers take their time to start.
_install_pinned() {
  local wanted=$1 component name version names=() specifiers=() components
  while read -r component name version; do
    names+=("$name")
    if is_ubuntu; then specifiers+=("$name=$version"); else specifiers+=("$name-$version"); fi
  done <<<"$wanted"
  release_packages "${names[@]}"
  if ! _install "${specifiers[@]}"; then
    components=$(cut -d ' ' -f 1 <<<"$wanted" | uniq)
    if [[ $components != *$'\n'* ]]; then _refuse_packages "$wanted"; fi
    # Whose fault it was shows when each is installed by itself.
    for component in $components; do
      _install_pinned "$(grep "^$component " <<<"$wanted")"
    done
    return
  fi
  while read -r component name version; do
    require_installed "$component" "$name" "$version"
  done <<<"$wanted"
  hold_packages "${names[@]}"
}

_refuse_packages() {
  local component name version
  while read -r component name version; do
    _require_offered "$component" "$name" "$version"
  done <<<"$1"
  _refuse_installation "${1%% *}"
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
  if [[ -z $offered ]]; then
    die "$component" "version $version of $name is not offered, nor any other" \
      "check url, suite and packages in pins.json"
  fi
  die "$component" "version $version of $name is not offered, only ${offered//$'\n'/, }" \
    "pin one of these in pins.json"
}

# Say why an installation failed, going by what apt or dnf wrote.
_refuse_installation() {
  local component=$1 log=$WORK/install
  local compare="do not install it; compare fingerprint in pins.json with the vendor's page"
  if grep -Eq '404 +Not Found|Status code: 404' "$log"; then
    die "$component" "a package answered 404 ($(_told_by "$log"))" \
      "check the versions in pins.json; the vendor may have withdrawn one"
  elif grep -Eqi 'gpg check failed|public key for .* is not installed|not correct for this package' \
    "$log"; then
    die "$component" "unknown key: a package is signed by another key than the pinned one" "$compare"
  elif grep -Eqi 'hash sum mismatch|bad signature|NOT OK|digest mismatch|checksum' "$log"; then
    die "$component" "bad signature: a package is not what its vendor signed" "$compare"
  fi
  die "$component" "its packages cannot be installed ($(_told_by "$log"))" \
    "see the package manager's output above"
}
