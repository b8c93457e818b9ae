"""A guard against replacing a file system by a new, empty one without consent."""
