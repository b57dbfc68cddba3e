local files = require "spec.support.files"
local run = require "spec.cli.run"

local text = "sh;main;parse 3\nsh;main;exec;do_exec_[k] 4\ncc;main 1\n"

local function flame(...)
  return run.perflua({ "flame", "--folded", "-", "-o", "-", ... }, { stdin = text })
end

describe("perflua flame", function()
  it("draws a recording and says what was measured", function()
    local path = files.temporary()
    local got = run.perflua { "flame", run.demo, "-o", path }
    assert.are.same({ 0, "" }, { got.status, got.out })
    local svg = files.read(path)
    assert.matches("^<svg xmlns=\"http://www.w3.org/2000/svg\" ", svg)
    assert.matches(
      "cpu%-clock  ·  457 samples  ·  0 lost  ·  [%d.]+ %% unresolved  ·  /usr/bin/perf "
        .. "record ", svg)
    assert.matches(">gzip</text>", svg, 1, true)
    assert.matches("\"unit\":\"ns\"", svg, 1, true)
    assert.matches("\"unit\":\"samples\"",
      run.perflua({ "flame", run.demo, "--count", "-o", "-" }).out, 1, true)
    local faults = run.perflua { "flame", run.demo, "--event", "page-faults", "-o", "-" }
    assert.matches("\"unit\":\"page-faults\"", faults.out, 1, true)
  end)

  it("has the source lines of a recording's frames unless they are not wanted", function()
    local function lines_of(...)
      local svg = run.perflua({ "flame", "--symfs", "spec/fixtures/words", "-o", "-",
        "spec/fixtures/words/perf.data", ... }).out
      local lines = svg:match '"lines":%[(.-)%]'
      return svg:match '"files":%[\n(.-)\n%]', lines and select(2, lines:gsub("%d+,%d+", "")),
        select(2, svg:match('"frames":%[(.-)%]'):gsub("%-?%d+,%d+,%d+,%d+,%d+", ""))
    end
    local files_of, n, n_frames = lines_of()
    assert.are.same({ '"words.c"', n_frames }, { files_of, n })
    assert.is_nil((lines_of "--no-lines"))
    assert.is_nil(flame().out:find('"lines"', 1, true))
  end)

  it("says what it leaves out of a recording", function()
    local svg = run.perflua({ "flame", run.demo, "--where", "comm ~= 'sort' and pid < 99999999",
      "-o", "-" }).out
    assert.matches("  ·  where comm ~= &#39;sort&#39; and pid &lt; 99999999</text>", svg, 1,
      true)
    assert.is_nil(svg:find(">sort</text>", 1, true))
  end)

  it("is the same for the same recording", function()
    local words = { "flame", run.demo, "-o", "-" }
    assert.are.same(run.perflua(words), run.perflua(words))
  end)

  it("draws folded stacks of a file or of standard input", function()
    local svg = flame().out
    for _, name in ipairs { "all", "sh", "cc", "main", "parse", "exec", "do_exec" } do
      assert.matches((">%s</text>"):format(name), svg, 1, true)
    end
    assert.matches(">kernel</text>", svg, 1, true)
    assert.matches(">3 folded stacks</text>", svg, 1, true)
    assert.are.equal(svg, run.perflua({ "flame", "--folded", files.temporary(text), "-o",
      "-" }).out)
  end)

  it("draws what perflua fold folded as the recording itself", function()
    local folded =
      run.shell(("\"$perflua\" fold --annotate %s | \"$perflua\" flame --folded - -o -")
        :format(run.demo))
    local whole = run.perflua { "flame", run.demo, "-o", "-" }
    -- folded stacks say nothing of numbers of samples, the last of five
    local function frames(svg)
      local data = svg:match '"frames":(%b[])':gsub("%s", "")
      if svg:find('"counted":"sample"', 1, true) then
        data = data:gsub("(%-?%d+,%d+,%d+,%d+),%d+", "%1")
      end
      return svg:match '<g id="frames">(.-)</g>', data
    end
    assert.are.same({ frames(whole.out) }, { frames(folded.out) })
  end)

  it("takes a title, a direction, colours and a width", function()
    local plain = flame().out
    assert.matches("<title>Flame graph</title>", plain, 1, true)
    assert.matches("<title>A &amp; B</title>", flame("--title", "A & B").out, 1, true)
    for _, words in ipairs { { "--inverted" }, { "--reverse" }, { "--colors", "gray" },
        { "--width", "800" } } do
      local got = flame(table.unpack(words))
      assert.are.same({ 0, "" }, { got.status, got.err })
      assert.are_not.equal(plain, got.out)
    end
    assert.matches('^<svg [^>]*width="800"[^>]* data%-fixed=""', flame("--width", "800").out)
  end)

  it("cuts off what lies deeper than --max-depth, and tells it", function()
    local svg = flame("--max-depth", "2").out
    assert.matches("stacks are cut off", svg, 1, true)
    local rows, n = {}, 0
    for y in svg:match('<g id="frames">(.-)</g>'):gmatch '<rect [^>]* y="(%d+)"' do
      n, rows[y] = n + (rows[y] and 0 or 1), true
    end
    assert.equal(3, n)
    assert.equal(2, run.perflua({ "flame", run.demo, "-o", "x", "--max-depth", "0" }).status)
  end)

  it("is a page that loads nothing and runs its own script only, as HTML", function()
    local path = files.temporary() .. ".html"
    finally(function() os.remove(path) end)
    assert.equal(0, run.perflua({ "flame", run.demo, "-o", path }).status)
    local page = files.read(path)
    assert.matches("^<!DOCTYPE html>", page)
    local policy = page:match 'http%-equiv="Content%-Security%-Policy" content="([^"]*)"'
    for kind, content in pairs { script = page:match "<script><!%[CDATA%[(.-)%]%]></script>",
      style = page:match "<style>(.-)</style>" } do
      local digits = files.output("sha256sum " .. files.temporary(content)):match "^%x+"
      local bytes = digits:gsub("%x%x", function(byte)
        return string.char(tonumber(byte, 16))
      end)
      local hash = files.output("base64 " .. files.temporary(bytes)):match "%S+"
      assert.matches(("%s-src 'sha256-%s'"):format(kind, hash), policy, 1, true)
    end
    assert.matches("^default%-src 'none'; ", policy)
  end)

  it("leaves out small frames and tells it", function()
    assert.matches("frames below 20 % are left out; they hold 12.5 %",
      flame("--min-share", "20").out, 1, true)
    assert.is_nil(flame("--min-share", "0").out:find("left out", 1, true))
  end)

  it("refuses wrong words with status 2", function()
    local wrong = {
      { "-o FILE.svg says where to write it", "x.data" },
      { "--width: from 200 to 100000 pixels, not '-3'", "x.data", "-o", "x", "--width", "-3" },
      { "--min-share: from 0 to 100 %, not 'few'", "x.data", "-o", "x", "--min-share", "few" },
      { "--colors: no 'blue'", "x.data", "-o", "x", "--colors", "blue" },
      { "--where works for recordings", "--folded", "x", "-o", "x", "--where", "pid == 1" },
      { "--no-lines works for recordings", "--folded", "x", "-o", "x", "--no-lines" },
    }
    for _, words in ipairs(wrong) do
      local got = run.perflua { "flame", table.unpack(words, 2) }
      assert.are.equal(2, got.status)
      assert.matches(words[1], got.err, 1, true)
    end
  end)

  it("says when there is nothing to draw, in a line", function()
    local got = run.perflua({ "flame", "--folded", "-", "-o", "-" },
      { stdin = "no stacks here\n" })
    assert.are.equal(1, got.status)
    assert.matches("1 line is not a folded stack\nperflua: -: no folded stacks\n", got.err, 1,
      true)
    got = run.perflua({ "flame", "--folded", "-", "-o", "-" },
      { stdin = ("a 9223372036854775807\n"):rep(2) })
    assert.are.equal("perflua: -: the weights add up to more than 2^63\n", got.err)
    for _, path in ipairs { "/no/such/file", "/" } do
      got = run.perflua { "flame", "--folded", path, "-o", "-" }
      assert.are.equal(1, got.status)
      assert.matches("^perflua: [^\n]+\n$", got.err)
    end
  end)
end)
