"""The fabric lab: the real daemons in network namespaces of our own making."""
