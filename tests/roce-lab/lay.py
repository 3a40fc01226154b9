#!/usr/bin/python3
"""Inside the machine: creates the usual fabric and leaves it for other programs.

They take it over by RoceFabric(laid=True)."""

import sys

from guest.fabric import FOUR_TORS, TWO_RAILS, RoceFabric

LAYOUTS = {"two-rails": TWO_RAILS, "four-tors": FOUR_TORS}

fabric = RoceFabric(LAYOUTS[sys.argv[1] if len(sys.argv) > 1 else "two-rails"])
for rnic in fabric.rnics.values():
    print(f"  {rnic.name:10} {rnic.ipv4:12} over {rnic.netdev}, port {rnic.port} of {rnic.tor}")
