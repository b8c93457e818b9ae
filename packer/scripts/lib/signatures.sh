#!/usr/bin/env bash
# OpenPGP: a key counts only by its pinned fingerprint, a signature only by such a key.

# gpg with a keyring of its own, so that no key is ever trusted for a second component.
_gpg() {
  local component=$1
  shift
  install -d -m 700 "$WORK/gnupg-$component"
  gpg --homedir "$WORK/gnupg-$component" --batch --no-tty --no-autostart --quiet \
    --no-secmem-warning "$@"
}

# Fetch a component's signing key and write only the pinned one, binary or armored:
# signing_key COMPONENT FILE [--armor]
#
# The key comes from the vendor's own host, often the one that serves what it signs, or, where a
# vendor only prints it on a page, from keys/ beside this file. Neither is believed: whatever else
# the file holds is left out, and without the pinned key it is refused.
signing_key() {
  local component=$1 file=$2 key fingerprint found source
  key=$(pin "$component" key)
  fingerprint=$(pin "$component" fingerprint)
  if [[ -z $key || -z $fingerprint ]]; then
    die "$component" "has no key or no fingerprint" "add both to pins.json"
  fi
  source=$LIB/$key
  if [[ $key == https://* ]]; then
    source=$WORK/key
    download "$component" "$key" "$source"
  fi
  if ! _gpg "$component" --import "$source" 2>"$WORK/gpg"; then
    die "$component" "$key holds no OpenPGP key" "check key in pins.json"
  fi
  found=$(_gpg "$component" --with-colons --fingerprint --list-keys | _primary_fingerprints)
  if ! grep -qx "$fingerprint" <<<"$found"; then
    die "$component" "unknown key: $key holds ${found//$'\n'/, } and not $fingerprint" \
      "do not trust it; compare fingerprint in pins.json with the vendor's page"
  fi
  _gpg "$component" "${@:3}" --export "$fingerprint" >"$file"
}

# Fingerprints of primary keys; a subkey cannot be pinned, it says nothing of who owns it.
_primary_fingerprints() {
  awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print $10; primary = 0 }'
}

# Confirm a detached signature by the pinned key: verify_signature COMPONENT FILE SIGNATURE
#
# A key that has expired since confirms a file whose checksum is pinned, and confirmed, too: an old
# pin can be baked again, and whoever got hold of an old key cannot sign another file.
verify_signature() {
  local component=$1 file=$2 signature=$3 fingerprint status sha256 good=GOODSIG
  local what="bad signature: ${file##*/}"
  local remedy="do not install it; compare signature and version in pins.json with the vendor's page"
  fingerprint=$(pin "$component" fingerprint)
  sha256=$(pin "$component" sha256)
  if [[ -n $sha256 ]]; then good='(GOODSIG|EXPKEYSIG)'; fi
  signing_key "$component" "$WORK/keyring"
  status=$(_gpg "$component" --no-default-keyring --keyring "$WORK/keyring" --status-fd 1 \
    --verify "$signature" "$file" 2>"$WORK/gpg") || true
  case $status in
    *'] BADSIG '*) die "$component" "$what is not what was signed" "$remedy" ;;
    *'] EXPKEYSIG '*)
      [[ -n $sha256 ]] || die "$component" "$what is signed by a key that has expired" "$remedy"
      ;;
    *'] REVKEYSIG '*) die "$component" "$what is signed by a key that was revoked" "$remedy" ;;
    *'] NO_PUBKEY '*) die "$component" "$what is signed by a key other than $fingerprint" "$remedy" ;;
  esac
  # GOODSIG is a sound signature of an unexpired key; VALIDSIG ends with its primary key.
  if ! grep -Eq "\] $good " <<<"$status" || ! grep -q "\] VALIDSIG .* $fingerprint\$" <<<"$status"; then
    die "$component" "$what has no signature of $fingerprint" "$remedy"
  fi
}
