-- Recordings that are written, beside programs that copy or compress the same bytes.

local stopwatch = require "spec.bench.stopwatch"

local perflua = assert(os.getenv "PERFLUA", "start the benchmark by make bench")

local has_zstd = stopwatch.output("command -v zstd || true") ~= ""

return function(add, recording, path)
  local copy = path .. ".copy"
  local convert = { perflua, "convert", "--force", path, "-o", copy }
  add {
    "perflua convert", "cp", recording = recording, faster = 0.6,
    ours = convert,
    theirs = { "cp", path, copy },
  }
  for _, options in ipairs { { "--time", ",50%" }, { "--time", "40%-43%" } } do
    add {
      "perflua cut " .. table.concat(options, " "), "cp", recording = recording, faster = 0.6,
      ours = { perflua, "cut", "--force", path, "-o", copy, table.unpack(options) },
      theirs = { "cp", path, copy },
    }
  end
  add {
    "perflua convert", "perf inject", recording = recording, faster = 1,
    ours = convert,
    theirs = { "perf", "inject", "-i", path, "-o", copy },
  }
  add {
    "perflua convert --compress", "zstd -1", recording = recording, faster = 0.8,
    ours = { perflua, "convert", "--force", "--compress", path, "-o", copy },
    theirs = { "zstd", "-1", "-qf", path, "-o", copy },
    absent = not has_zstd and "no zstd",
  }
end
