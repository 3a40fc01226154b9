"""A small emulated machine: Debian's own kernel, over the root file system of this machine."""
