"""A small machine under emulation: Debian's own kernel over this machine's root."""
