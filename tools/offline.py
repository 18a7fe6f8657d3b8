"""Run a command with the network cut: in a new network namespace that has a loopback and nothing else.

    python tools/offline.py COMMAND ...

Jupyter's kernels talk to their clients over 127.0.0.1, and a new namespace starts with even that switched off. Linux
only; elsewhere, or where namespaces are forbidden, `available()` is False.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS = 0x8914           # linux/sockios.h: set the flags of a network interface
IFF_UP = 0x1                    # linux/if.h
UNSHARE = ["unshare", "--map-root-user", "--net"]


def available():
    """Can this machine make a network namespace?"""
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def loopback_up():
    """Switch on the namespace's loopback (what `ip link set lo up` does)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        loopback_up()
        os.execvp(sys.argv[2], sys.argv[2:])
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, __file__, "--inside", *sys.argv[1:]])
