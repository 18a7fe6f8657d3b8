"""What a process forbids itself, for good, before it runs a student's code. Linux only.

Namespaces hide the machine; what is left is that a process can use up its memory, its process table or its disk. The
kernel's limits hold for each process; the grader's watchdog adds up the memory of all of them (`process.py`). It
cannot see memory that belongs to no process (System V segments, anonymous files), so the calls that make some are
refused, and with them those that student code never needs and that kernel exploits love; so are asynchronous reads,
whose number is the whole machine's, and sockets that are not UNIX ones: the memory of TCP is the machine's, too.
Refused, too, is what could carry word from one sandbox to another: file locks, watches of files, and the calls that
say, or decide, which parts of a file are in the kernel's memory. (Not all of that can be: faults and clocks tell it as
well. So what is told must be worthless, see marking/answers.py.) A process cannot leave its session: the kernel may
share processors out by session, and many small ones would get more than a neighbour. Nor can it step back, to be taken
for one that others keep waiting.
"""

import ctypes
import errno
import platform
import resource
import socket
import struct
import sys

# Numbers of system calls: x86-64, aarch64.
REFUSED = {
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "io_uring_setup": (425, 425), "userfaultfd": (323, 282),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "flock": (73, 32), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "io_setup": (206, 0), "fadvise64": (221, 223),
    "readahead": (187, 213), "mincore": (27, 232), "cachestat": (451, 451), "process_madvise": (440, 440),
    "setpriority": (141, 140), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
}
SOCKETS, FCNTL, SETSID = [(41, 198), (53, 199)], (72, 25), (112, 157)   # socket, socketpair; fcntl; setsid
FLAGGED = [(327, 286), (328, 287)]              # preadv2, pwritev2: only without flags, such as RWF_NOWAIT
MADVISE, OUT_OF_MEMORY = (28, 233), [20, 21]                            # MADV_COLD, MADV_PAGEOUT
LOCKS = [5, 6, 7, 36, 37, 38, 1024, 1026]       # F_GETLK, F_SETLK, F_SETLKW, the same as F_OFD_…, F_SETLEASE, F_NOTIFY
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}      # column above, the kernel's AUDIT_ARCH_…

LOAD, EQUAL, AT_LEAST, END = 0x20, 0x15, 0x35, 0x06                     # instructions of the kernel's filter language
KILL, ALLOW, ERROR = 0x80000000, 0x7FFF0000, 0x00050000                 # its verdicts; to ERROR a number is added


def lock(memory, processes, files, file_size, seconds):
    """Set the limits (bytes, counts, seconds of a processor for each process), none of which can be raised again, and
    refuse the system calls above."""
    for what, limit in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_NPROC, processes),
                        (resource.RLIMIT_NOFILE, files), (resource.RLIMIT_FSIZE, file_size),
                        (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_SIGPENDING, 256),
                        (resource.RLIMIT_CORE, 0), (resource.RLIMIT_MSGQUEUE, 0), (resource.RLIMIT_MEMLOCK, 0)):
        resource.setrlimit(what, (limit, limit))
    refuse_calls()


def instruction(code, k, yes=0, no=0):
    """One instruction of a filter; yes, no: how many of the next ones a comparison skips."""
    return struct.pack("HBBI", code, yes, no, k)


def rule(call, *body):
    """The body decides on the system call of this number; on others what comes after it does."""
    return [instruction(EQUAL, call, 0, len(body)), *body]


def one_of(place, values, inside, outside):
    """The verdict `inside` if the call's argument at this place (from 0) is one of the values, else `outside`."""
    found = [instruction(EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [instruction(LOAD, 16 + 8 * place), *found, instruction(END, outside), instruction(END, inside)]


def rules(column):
    """The filter's rules for one of the machines."""
    refuse, unknown = ERROR | errno.EPERM, ERROR | errno.EAFNOSUPPORT
    found = [rule(pair[column], instruction(END, refuse)) for pair in REFUSED.values() if pair[column] is not None]
    found += [rule(pair[column], *one_of(0, [socket.AF_UNIX], ALLOW, unknown)) for pair in SOCKETS]
    found.append(rule(FCNTL[column], *one_of(1, LOCKS, refuse, ALLOW)))
    found += [rule(pair[column], *one_of(5, [0], ALLOW, refuse)) for pair in FLAGGED]
    found.append(rule(MADVISE[column], *one_of(2, OUT_OF_MEMORY, refuse, ALLOW)))
    found.append(rule(SETSID[column], instruction(END, ERROR)))         # error 0: it seems to work
    return sum(found, [])


def refuse_calls():
    """Install a seccomp filter: what is refused fails with "Operation not permitted", or of sockets "not supported"."""
    if platform.machine() not in MACHINES:
        return
    column, machine = MACHINES[platform.machine()]
    program = [instruction(LOAD, 4), instruction(EQUAL, machine, 1, 0), instruction(END, KILL),
               instruction(LOAD, 0), instruction(AT_LEAST, 0x40000000, 0, 1),           # x32's second numbering
               instruction(END, ERROR | errno.EPERM), *rules(column), instruction(END, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_ = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    if prctl(no_new_privileges, 1, 0, 0, 0) or prctl(set_seccomp, by_filter, ctypes.addressof(filter_), 0, 0):
        sys.exit("the kernel took no filter of system calls: " + errno.errorcode.get(ctypes.get_errno(), "?"))
