# For perf script -s: a line for each sample of a tracepoint: its time, cpu, thread and event, then its fields as
# NAME=iNUMBER (the bits of an integer), =sHEX (a text that can be printed) or =bHEX (any other bytes).


def as_text(value):
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, str):
        return "s" + value.encode("utf-8", "surrogateescape").hex()
    return "b" + bytes(value).hex()


def trace_unhandled(event_name, context, fields, sample):
    own = sample["sample"]
    tid = own["tid"] if own["tid"] < 1 << 31 else own["tid"] - (1 << 32)
    words = [str(own["time"]), str(own["cpu"]), str(tid), sample["ev_name"]]
    for name, value in fields.items():
        if not name.startswith("common_"):
            words.append(name + "=" + as_text(value))
    print("\t".join(words))
