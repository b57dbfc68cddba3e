-- Methods of records, whose fields are in the core's tables; call stacks: see init.lua for the
-- form.

return {
  Stack = {
    name = "Stack", kind = "object", prefix = "stack:", len = true,
    doc = "A call stack as a value: the key of `group_by(\"callchain\")`. Equal stacks are one "
      .. "object in a Table; `==` compares those of different Tables. tostring() is the text "
      .. "of the field `stack`; pairs() walks over the frames. It stays when the file is "
      .. "closed.",
    index = {
      { "[integer]", "Frame", "A frame: the innermost is the first; nil beyond the last." },
    },
  },

  Frame = {
    name = "Frame", kind = "object", prefix = "frame:",
    doc = "A frame of a Stack. Frames are equal by `kind`, binary (its build-id, else its "
      .. "name), `address` and `symbol`. pairs() walks over what is known without a look into "
      .. "the binary.",
    fields = {
      { "ip", "integer?",
        "The address in the first record with the frame; nil if it was loaded from a file." },
      { "address", "integer",
        "In the binary: the offset in the file of a program, the address itself of the kernel; "
        .. "without a binary `ip`." },
      { "symbol", "string?", "The function." },
      { "symoff", "integer?", "Distance from its start; nil if it was loaded from a file." },
      { "dso", "string", "The binary; \"[unknown]\" if none was mapped there." },
      { "build_id", "string?", "Its build-id, hexadecimal." },
      { "kind", "string",
        "\"kernel\", \"user\", \"jit\" (made at run time), \"hypervisor\", \"guest_kernel\", "
        .. "\"guest_user\", \"unknown\"." },
      { "srcline", "string?",
        "Source file and line: looked up when it is read. After `file:close()` only lines that "
          .. "were read before are known; nil if it was loaded from a file." },
      { "inlined", "{ symbol: string?, srcline: string? }[]?",
        "The functions inlined there, innermost first; as `srcline`." },
    },
  },

  Node = {
    name = "Node", kind = "object", prefix = "node:", len = true,
    doc = "A node of a tree of calls, see `table:tree()`: a frame below its callers or "
      .. "callees. A function that calls itself is a node at each depth, and is in the total "
      .. "of each once. The root has no frame, and the total of all. tostring() gives what is "
      .. "below a node as `perf report -g` prints it, without nodes below 0.5 %.",
    index = {
      { "[integer]", "Node?", "A node below it, the heaviest first; `#node` says how many." },
    },
    fields = {
      { "name", "string?", "What is shown of it: its function; without one `[binary]`; its "
        .. "source line, address or binary, if nodes are of these." },
      { "frame", "Frame?", "Of its frames the one with the most weight." },
      { "symbol", "string?", "As `frame` has it, as `dso`, `srcline` and `kind`; nil, as "
        .. "`srcline`, if nodes are binaries." },
      { "dso", "string?", "The binary." },
      { "srcline", "string?", "Source file and line, as of a Frame." },
      { "kind", "string?", "\"kernel\", \"user\" …." },
      { "self", "number", "What the stacks that end here weigh." },
      { "total", "number", "What all stacks that it is in weigh." },
      { "count", "integer?", "How many records these have; nil if the table has no `count`." },
      { "parent", "Node?", "The node that it is below; nil of the root." },
    },
    methods = {
      { "find", "Finds the heaviest node of that name below it.",
        params = { { "name", "string", "as `name` has it" } },
        returns = { { "Node?", "nil: there is none" } } },
      { "walk", "Calls a function with the node and with all below it: each before those below "
        .. "it, the heaviest first.",
        params = { { "fn", "fun(node: Node, depth: integer)",
          "depth: 0 of the node itself" } } },
    },
  },

  AnyRecord = {
    name = "AnyRecord", kind = "object", prefix = "record:",
    doc = "A record, with the fields that every type has. pairs() walks over its fields; "
      .. "tostring() is the line that `perflua dump` prints.",
    methods = {
      { "bytes", "The record as it is in the file, its header first.",
        returns = { { "string" } },
        errors = "a closed file" },
      { "copy",
        "Makes a record that stays when the file is closed, and when a reused record moves on.",
        returns = { { "Record" } }, errors = "a closed file" },
    },
  },

  PayloadRecord = {
    name = "PayloadRecord", kind = "object", prefix = "record:",
    doc = "A record with data after it: `auxtrace` and "
      .. "`tracing_data`.",
    types = { "auxtrace", "tracing_data" },
    methods = {
      { "data", "Reads the data that lie after the record.", returns = { { "string" } },
        errors = "a closed file" },
    },
  },
}
