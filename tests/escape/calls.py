# SPDX-License-Identifier: Apache-2.0
"""The numbers of system calls on this machine, by name. Those that came with Linux 5.1 or later have one number everywhere."""
import os

EVERYWHERE = {"pidfd_send_signal": 424, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "pidfd_open": 434,
              "clone3": 435, "close_range": 436, "openat2": 437, "mount_setattr": 442, "landlock_create_ruleset": 444,
              "landlock_add_rule": 445, "landlock_restrict_self": 446}
OLDER = {  # name: (x86-64, arm64)
    "capset": (126, 91), "clone": (56, 220), "execveat": (322, 281), "fstatfs": (138, 44), "getdents64": (217, 61), "keyctl": (250, 219), "kill": (62, 129),
    "memfd_create": (319, 279), "mkdirat": (258, 34), "mount": (165, 40), "pipe2": (293, 59), "pivot_root": (155, 41), "ppoll": (271, 73),
    "prctl": (157, 167), "prlimit64": (302, 261), "seccomp": (317, 277), "sendto": (44, 206), "sethostname": (170, 161), "setsid": (112, 157),
    "signalfd4": (289, 74), "socketpair": (53, 199), "statx": (332, 291), "umount2": (166, 39), "unshare": (272, 97), "waitid": (247, 95),
}
COLUMN = ["x86_64", "aarch64"].index(os.uname().machine)
NUMBER = {**EVERYWHERE, **{name: numbers[COLUMN] for name, numbers in OLDER.items()}}


def fails(name, error, argument=None):
    """What fault.c is told: this call answers this error, always or with this first argument."""
    return f"{NUMBER[name]}{'' if argument is None else f'@{argument:#x}'}={error}"
