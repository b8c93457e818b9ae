"""An OpenZFS file system that is there already, for instance one that a deleted stack has kept."""
