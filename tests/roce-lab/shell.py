#!/usr/bin/python3
"""Opens a shell, or runs one command, in the RoCE lab's machine with the fabric created.

usage: shell.py [--kernel usual|backports|FOLDER] [--bare] [--seconds N] [COMMAND...]

Several words are a command and its arguments; a single word is a line for the shell.
The exit status is the command's. --bare creates no fabric."""

import argparse
import os
import pathlib
import shlex
import sys
import tempfile

from vm.machine import LAB, Lost, Machine

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 600

WELCOME = """
  This is Debian's kernel under emulation, over this machine's files: what you write goes
  into memory, except in {out}.
  Switches are namespaces: ip netns exec tor1 ... RNICs are all here: rdma link

  Leave with "exit". If it hangs: Ctrl-A, then X.
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", default="usual", help="usual, backports or a folder")
    parser.add_argument("--bare", action="store_true", help="lay no fabric")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for a command")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    asked = arguments()
    command = asked.command[0] if len(asked.command) == 1 else shlex.join(asked.command)
    quiet = " >/dev/null" if command else ""
    lay = "" if asked.bare else f"{shlex.quote(str(HERE / 'lay.py'))}{quiet} || exit\n"
    if not command and not os.isatty(0):
        sys.exit("dev lab: a shell needs a terminal; give a command instead")
    (LAB / "out").mkdir(parents=True, exist_ok=True)
    out = tempfile.mkdtemp(prefix="shell-", dir=LAB / "out")
    machine = Machine(asked.kernel, out)
    try:
        if command:
            status = machine.run(lay + command, asked.seconds)
        else:
            welcome = shlex.quote(WELCOME.format(out=out))
            status = machine.sit_down(f"{lay}echo {welcome}\nexec bash -i")
        machine.tidy()
        return status
    except Lost as lost:
        print(f"dev lab: {lost}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
