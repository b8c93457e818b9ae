"""What FSx for Lustre sells."""

# MB/s per TiB of persistent-2: FSx for Lustre API reference, CreateFileSystemLustreConfiguration.
THROUGHPUTS = (125, 250, 500, 1000)
