std = "lua54"
max_line_length = 120
exclude_files = { "build" }
files["spec"] = { std = "+busted" }
files["examples"] = { read_globals = { "perflua" } }
files["docs"] = { read_globals = { "perflua" } }
