"""The fabric lab: runs the real daemons in network namespaces that it makes."""
