-- Methods of records: see init.lua for the form. Their fields are in the core's tables.

return {
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
