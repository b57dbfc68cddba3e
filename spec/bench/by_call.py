# For perf script -s: counts system calls by number, as loops.by_call of loops.lua does.

counts = {}


def count(number):
    counts[number] = counts.get(number, 0) + 1


def raw_syscalls__sys_enter(name, context, cpu, secs, nsecs, pid, comm, callchain, id, args, *more):
    count(id)


def raw_syscalls__sys_exit(name, context, cpu, secs, nsecs, pid, comm, callchain, id, ret, *more):
    count(id)


def trace_end():
    print(sum(counts.values()))
