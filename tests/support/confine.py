#!/usr/bin/python3
"""Runs a program under the system call list of a unit file, without systemd.

    confine.py [--also NAME,...] UNIT -- PROGRAM [ARGUMENT...]
    confine.py UNIT --call NAME      makes one such call, and nothing else

What the unit does not allow ends the process (SIGSYS), as it would there. Address
families, namespaces, and memory that is both writable and executable are held to as well,
as systemd does: with an error.
"""

import ctypes
import os
import sys

KILL, ALLOW, ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
MASKED_EQUAL, EQUAL = 7, 4
EAFNOSUPPORT, EPERM = 97, 1
PROT_WRITE, PROT_EXEC = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}

# The group @default of systemd v252, which it adds to every such list.
DEFAULT = """
    arch_prctl brk clock_getres clock_gettime clock_nanosleep execve exit exit_group futex
    futex_waitv get_robust_list getegid geteuid getgid getgroups getpgid getpgrp getpid
    getppid getrandom getresgid getresuid getrlimit getsid gettid gettimeofday getuid
    membarrier mmap mprotect munmap nanosleep pause prlimit64 restart_syscall rseq
    rt_sigreturn sched_getaffinity sched_yield set_robust_list set_tid_address time
""".split()


class Compare(ctypes.Structure):  # struct scmp_arg_cmp
    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    ]


class Unit:
    def __init__(self, path):
        self._lines = [line.strip() for line in open(path, encoding="utf-8")]

    def words(self, key):
        found = []
        for line in self._lines:
            if line.startswith(key + "="):
                found += line[len(key) + 1 :].split()
        return found

    def calls(self):
        names = self.words("SystemCallFilter")
        assert names, "no SystemCallFilter"
        strange = [name for name in names if not name.replace("_", "").isalnum()]
        assert not strange, f"names only, not {strange}"
        return sorted({*names, *DEFAULT})


class Filter:
    def __init__(self):
        self._lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._lib.seccomp_init.restype = ctypes.c_void_p
        self._lib.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
        self._context = ctypes.c_void_p(self._lib.seccomp_init(ctypes.c_uint32(KILL)))

    def number(self, name):
        return self._lib.seccomp_syscall_resolve_name(name.encode())

    def add(self, action, name, *compares):
        number = self.number(name)
        if number < 0:
            return  # not on this machine
        array = (Compare * max(len(compares), 1))(*compares)
        r = self._lib.seccomp_rule_add_array(
            self._context, ctypes.c_uint32(action), number, len(compares), array
        )
        assert r == 0, f"{name}: {os.strerror(-r)}"

    def load(self):
        r = self._lib.seccomp_load(self._context)
        assert r == 0, os.strerror(-r)


def confine(unit, also=()):
    rules = Filter()
    families = [FAMILIES[name] for name in unit.words("RestrictAddressFamilies")]
    for name in (*unit.calls(), *also):
        if name == "socket":
            for family in range(64):
                known = family in families
                rules.add(
                    ALLOW if known else ERRNO | EAFNOSUPPORT,
                    name,
                    Compare(0, EQUAL, family, 0),
                )
        elif name == "setns" and "yes" in unit.words("RestrictNamespaces"):
            rules.add(ERRNO | EPERM, name)
        elif name == "mprotect":
            rules.add(ALLOW, name, Compare(2, MASKED_EQUAL, PROT_EXEC, 0))
            rules.add(ERRNO | EPERM, name, Compare(2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
        elif name == "mmap":
            both = PROT_EXEC | PROT_WRITE
            for prot in (0, PROT_EXEC, PROT_WRITE):
                rules.add(ALLOW, name, Compare(2, MASKED_EQUAL, both, prot))
            rules.add(ERRNO | EPERM, name, Compare(2, MASKED_EQUAL, both, both))
        else:
            rules.add(ALLOW, name)
    rules.load()
    return rules


def main(words):
    also = ()
    if words[0] == "--also":
        also, words = words[1].split(","), words[2:]
    unit = Unit(words[0])
    if words[1] == "--call":
        call = ctypes.CDLL(None).syscall
        number = Filter().number(words[2])
        assert number >= 0, f"{words[2]}: no such call"
        confine(unit, also)
        call(number, 0, 0, 0, 0, 0, 0)
        os._exit(0)
    assert words[1] == "--", __doc__
    confine(unit, also)
    os.execv(words[2], words[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
