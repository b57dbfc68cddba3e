-- Stack: see init.lua for the form.

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
      .. "name) and `address`; in code made at run time also by `symbol`. pairs() walks over "
      .. "what is known without a look into the binary.",
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
        "Source file and line: looked up when it is read, which raises once the file is "
          .. "closed; nil if it was loaded from a file." },
      { "inlined", "{ symbol: string?, srcline: string? }[]?",
        "The functions inlined there, innermost first; as `srcline`." },
    },
  },
}
