local files = require "spec.support.files"
local many = require "spec.cli.many"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

describe("perflua reduce", function()
  local paths, partials, whole

  setup(function()
    paths = many.recordings(5)
    partials = many.partials(many.FUNCTION, paths)
    whole = many.map(many.FUNCTION, {}, paths).out
  end)

  local function reduce(list, options) return many.run("reduce", options or {}, nil, list) end

  it("merges files and what follows one another in a stream", function()
    assert.are.same({ 0, whole, "" },
      { reduce(partials).status, reduce(partials).out, reduce(partials).err })
    for _, command in ipairs {
      [[cat "$@" | "$perflua" reduce]], [[cat "$@" | "$perflua" reduce -]],
      [[f=$1; shift; cat "$@" | "$perflua" reduce "$f" -]],
    } do
      local got = run.shell_with(command, table.unpack(partials))
      assert.are.same({ 0, whole, "" }, { got.status, got.out, got.err })
    end
  end)

  it("gives partial results again, in any grouping", function()
    local one = files.temporary(reduce({ partials[4], partials[1] }, { "--partial" }).out)
    local two = files.temporary(reduce({ partials[2], one }, { "--partial" }).out)
    assert.are.equal(whole, reduce({ partials[5], two, partials[3] }).out)
    local out = files.temporary()
    assert.are.same({ 0, "" }, { reduce(partials, { "--partial", "-o", out }).status, "" })
    assert.are.equal(whole, reduce({ out }).out)
  end)

  it("gives nothing for nothing where the result is partial, and else says that there is "
    .. "nothing", function()
    local got = run.perflua { "reduce", "--partial" }
    assert.are.same({ 0, "", "" }, { got.status, got.out, got.err })
    got = run.perflua { "reduce" }
    assert.are.same({ 1, "", "perflua: reduce: there are no partial results\n" },
      { got.status, got.out, got.err })
    assert.are.equal(whole, reduce({ files.temporary "", table.unpack(partials) }).out)
  end)

  it("tells what is damaged, and where, and merges the rest", function()
    local text = files.read(partials[2])
    local cut, none = files.temporary(text:sub(1, -20)),
      files.temporary(text .. "hello\n" .. text)
    local got = reduce({ partials[1], cut, none, "/none", partials[3] })
    assert.are.equal(1, got.status)
    assert.are.equal(reduce({ partials[1], partials[2], partials[3] }).out, got.out)
    assert.matches("perflua: reduce: " .. cut .. ": table 1: damaged: its end is missing\n",
      got.err,
      1, true)
    assert.matches("perflua: reduce: " .. none .. ": table 2: not a table saved by perflua\n",
      got.err, 1, true)
    assert.matches("perflua: reduce: /none: No such file or directory\n", got.err, 1, true)
    assert.are.same({ 1, "" }, { reduce({ cut }).status, reduce({ cut }).out })
    assert.are.same({ 1, "" }, { reduce({ cut }, { "--partial" }).status,
      reduce({ cut }, { "--partial" }).out })
  end)

  it("refuses results of other queries, unless they are parts of one whole", function()
    local script =
      "return function(f) return f:samples():where(%q):group_by('comm'):count() end"
    local one = many.partials(script:format "pid == 7", paths)
    local two = many.partials(script:format "pid ~= 7", paths)
    local got = reduce({ one[1], two[1] })
    assert.are.same({ 1, "" }, { got.status, got.out })
    assert.are.equal("perflua: reduce: " .. two[1]
      .. ": a result of another query: where: \"pid == 7\" here, "
      .. "\"pid ~= 7\" there\n", got.err)
    got = reduce({ one[1], two[1] }, { "--parts" })
    assert.are.same({ 0, "comm  count\nc8        5\nc7        4\n" }, { got.status, got.out })
    got = reduce({ one[1], partials[1] }, { "--parts" })
    assert.are.equal(1, got.status)
    assert.matches("1 keys and 1 measures here, 1 and 4 there", got.err, 1, true)
  end)

  it("writes CSV and JSON", function()
    local script = "return function(f) return f:samples():group_by('comm'):count() end"
    local list = many.partials(script, { paths[1], paths[2] })
    assert.are.equal("comm,count\nc8,10\nc7,8\n", reduce(list, { "--csv" }).out)
    assert.are.equal('[\n{"comm":"c8","count":10},\n{"comm":"c7","count":8}\n]\n',
      reduce(list, { "--json" }).out)
    assert.are.equal(2, reduce(list, { "--csv", "--partial" }).status)
  end)
end)

describe("engines for many recordings", function()
  local paths, script, whole

  setup(function()
    paths = many.recordings(6)
    script = files.temporary(many.FUNCTION)
    whole = many.map(many.FUNCTION, {}, paths).out
  end)

  local function gives_whole(command)
    local got = run.shell_with(command, script, table.unpack(paths))
    assert.are.same({ 0, whole, "" }, { got.status, got.out, got.err })
  end

  needs.it("xargs",
    "include xargs, which runs map for each recording and pipes it to reduce", function()
    gives_whole [[q=$1; shift
      printf '%s\0' "$@" | xargs -0 -n 1 "$perflua" map --partial "$q" | "$perflua" reduce]]
  end)

  needs.it("parallel", "include GNU parallel", function()
    local command = [[q=$1; shift; export HOME=$(mktemp -d)
      parallel --will-cite %s "$perflua" map --partial "$q" {} ::: "$@" 2>"$HOME/said" | "$perflua" reduce
      rm -r "$HOME"]]
    gives_whole(command:format "")
    gives_whole(command:format "--line-buffer -n 2 -j 3")
  end)

  it("include Spark, which pipes lines of names in and results out, in any order", function()
    gives_whole [[q=$1; shift
      printf '%s\n' "$1" "$2" | xargs "$perflua" map --partial "$q" >"$q.a"
      printf '%s\n' "$3" "$4" "$5" "$6" | xargs -n 1 "$perflua" map --partial "$q" >"$q.b"
      sort -r "$q.a" "$q.b" | "$perflua" reduce
      rm "$q.a" "$q.b"]]
  end)
end)
