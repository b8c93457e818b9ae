#!/usr/bin/env bash
# Sources that are pinned by a commit of a git repository, whose id is a checksum of all its files.

# Fetch the commit that is a component's version into a folder: fetch_commit COMPONENT FOLDER
fetch_commit() {
  local component=$1 folder=$2 url commit
  url=$(pin "$component" url)
  commit=$(pin "$component" version)
  if [[ ! $commit =~ ^[0-9a-f]{40}$ ]]; then
    die "$component" "version $commit is not the id of a commit" "write all its 40 digits"
  fi
  # fsckObjects: git checks every id, so no other files can be sent for this commit.
  if ! logged "$WORK/git" git -c transfer.fsckObjects=true -c advice.detachedHead=false \
    clone --quiet --no-checkout "$url" "$folder"; then
    die "$component" "$url cannot be cloned" "check url in pins.json and the build's network"
  fi
  if ! logged "$WORK/git" git -C "$folder" checkout --quiet --detach "$commit"; then
    die "$component" "$url has no commit $commit" "check version in pins.json"
  fi
  rm -rf "$folder/.git"
}
