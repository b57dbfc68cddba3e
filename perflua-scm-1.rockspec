rockspec_format = "3.0"
package = "perflua"
version = "scm-1"
source = {
  url = "git+file://.",
}
description = {
  summary = "Linux perf.data recordings for Lua scripts",
  detailed = [[
A C core that decodes the records of perf.data files into userdata whose fields
are decoded when they are read, and a Lua library with filters, group-by and
callbacks over it. `make install` adds the interpreter of the same name.]],
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = {
  "lua >= 5.4, < 5.5",
}
build = {
  type = "make",
  build_target = "module",
  install_target = "install-module",
  build_variables = {
    B = "build/rock",
    CC = "$(CC)",
    CFLAGS = "$(CFLAGS)",
    LIBFLAG = "$(LIBFLAG)",
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    B = "build/rock",
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    LUADIR = "$(LUADIR)",
    LIBDIR = "$(LIBDIR)",
  },
}
