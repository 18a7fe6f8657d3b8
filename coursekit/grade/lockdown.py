"""What a process forbids itself, for good, before it runs a student's code. Linux only.

Namespaces hide the machine; what is left is that a process can use up its memory, its process table or its disk. The
kernel's limits hold for each process; the grader's watchdog adds up the memory of all of them (`walls.py`). It cannot
see memory that belongs to no process (System V segments, anonymous files), so the calls that make some are refused, and
with them those that student code never needs and that kernel exploits love.
"""

import ctypes
import errno
import platform
import resource
import struct
import sys

# Numbers of the refused system calls: x86-64, aarch64.
REFUSED = {
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "io_uring_setup": (425, 425), "userfaultfd": (323, 282),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}      # column above, the kernel's AUDIT_ARCH_…


def lock(memory, processes, files, file_size):
    """Set the limits (bytes, counts), none of which can be raised again, and refuse the system calls above."""
    for what, limit in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_NPROC, processes),
                        (resource.RLIMIT_NOFILE, files), (resource.RLIMIT_FSIZE, file_size),
                        (resource.RLIMIT_CORE, 0), (resource.RLIMIT_MSGQUEUE, 0), (resource.RLIMIT_MEMLOCK, 0)):
        resource.setrlimit(what, (limit, limit))
    refuse_calls()


def refuse_calls():
    """Install a seccomp filter: each call in REFUSED fails with "Operation not permitted"."""
    if platform.machine() not in MACHINES:
        return
    column, machine = MACHINES[platform.machine()]
    numbers = [pair[column] for pair in REFUSED.values()]

    def instruction(code, k, yes=0, no=0):
        return struct.pack("HBBI", code, yes, no, k)

    load, equal, at_least, give_back = 0x20, 0x15, 0x35, 0x06
    kill, allow, refuse = 0x80000000, 0x7FFF0000, 0x00050000 | errno.EPERM
    left = len(numbers)
    program = [instruction(load, 4), instruction(equal, machine, 1, 0), instruction(give_back, kill),
               instruction(load, 0), instruction(at_least, 0x40000000, left + 1, 0)]     # x32's second numbering
    program += [instruction(equal, number, left - i, 0) for i, number in enumerate(numbers)]
    program += [instruction(give_back, allow), instruction(give_back, refuse)]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_ = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    if prctl(no_new_privileges, 1, 0, 0, 0) or prctl(set_seccomp, by_filter, ctypes.addressof(filter_), 0, 0):
        sys.exit("the kernel took no filter of system calls: " + errno.errorcode.get(ctypes.get_errno(), "?"))
