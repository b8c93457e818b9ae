"""The sizes of FSx for OpenZFS on SSD, deployment type SINGLE_AZ_HA_2.

FSx API reference, CreateFileSystem and CreateFileSystemOpenZFSConfiguration.
"""

from typing import Final

LEAST_GIB: Final = 64
MOST_GIB: Final = 524_288
# MB/s; chosen apart from the storage.
THROUGHPUTS: Final = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
