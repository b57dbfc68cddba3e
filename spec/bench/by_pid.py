# For perf script -s: counts samples by pid, as loops.by_pid of loops.lua does.

counts = {}


def process_event(event):
    pid = event["sample"]["pid"]
    counts[pid] = counts.get(pid, 0) + 1


def trace_end():
    print(sum(counts.values()))
