"""An FSx file system that is there already: what nodes have to know of it."""
