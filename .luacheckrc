std = "lua54"
max_line_length = 120
exclude_files = { "build", "lua/perflua/meta.lua" }
files["spec"] = { std = "+busted" }
files["examples"] = { read_globals = { "perflua" } }
files["docs"] = { read_globals = { "perflua" } }
