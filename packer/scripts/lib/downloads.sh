#!/usr/bin/env bash
# Files from the vendors: downloaded over TLS, and used only when their pin confirms them.

readonly ATTEMPTS=5

# curl's exit codes for a connection that could not be made or broke: name, connect, partial file,
# timeout, TLS handshake, empty reply, send, receive. Only these are worth another try: an answer,
# even an error, will be the same next time, so another try only hides it for minutes.
readonly CONNECTION_ERRORS=' 5 6 7 18 28 35 52 55 56 '

# Fetch a URL into a file: download COMPONENT URL FILE
download() {
  local component=$1 url=$2 file=$3 code status attempt
  for ((attempt = 1; ; attempt++)); do
    code=0
    status=$(curl --silent --show-error --location --fail --proto '=https' --tlsv1.2 \
      --connect-timeout 15 --speed-limit 1024 --speed-time 60 --output "$file" \
      --write-out '%{http_code}' "$url" 2>"$WORK/curl") || code=$?
    ((code)) || return 0
    if [[ $CONNECTION_ERRORS != *" $code "* ]]; then
      break
    fi
    if ((attempt == ATTEMPTS)); then
      die "$component" "$url cannot be reached ($(_last_line "$WORK/curl"))" \
        "check the network of the build instance and url in pins.json"
    fi
    sleep "$attempt"
  done
  if ((code == 22)); then
    die "$component" "$url answered $status" "check url and version in pins.json"
  fi
  die "$component" "$url was not fetched ($(_last_line "$WORK/curl"))" \
    "check url in pins.json and the certificate of its host"
}

# Fetch the one file of an archive component, confirm it, and print where it is:
# fetch_archive COMPONENT
fetch_archive() {
  local component=$1 url sha256 signature file
  url=$(pin "$component" url)
  sha256=$(pin "$component" sha256)
  signature=$(pin "$component" signature)
  if [[ -z $sha256 && -z $signature ]]; then
    die "$component" "has neither sha256 nor signature" "add one of them to pins.json"
  fi
  file=$WORK/${url##*/}
  download "$component" "$url" "$file"
  if [[ -n $sha256 ]]; then
    _verify_sha256 "$component" "$file" "$sha256"
  fi
  if [[ -n $signature ]]; then
    download "$component" "$signature" "$file.signature"
    verify_signature "$component" "$file" "$file.signature"
  fi
  printf '%s\n' "$file"
}

_verify_sha256() {
  local component=$1 file=$2 expected=$3 actual
  actual=$(sha256sum "$file")
  actual=${actual%% *}
  [[ $actual == "${expected,,}" ]] || die "$component" \
    "wrong checksum: ${file##*/} has sha256 $actual and not $expected" \
    "do not install it; compare url, version and sha256 in pins.json with the vendor's page"
}

_last_line() {
  sed '/^$/d' "$1" | tail -n 1
}
