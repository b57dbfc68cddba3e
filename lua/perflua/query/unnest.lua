-- Query:unnest(): has the items of a view be the rows of a query.

local errors = require "perflua.errors"
local events = require "perflua.recording.events"
local fields = require "perflua.fields"
local items = require "perflua.fields.items"
local suggest = require "perflua.errors.suggest"
local usage_error = errors.usage_error

local NAMES = table.concat(items.views(), ", ")

local function check_query(spec)
  if spec.unnest then
    usage_error(
      "unnest: the rows of this query are already items of %s; a query can have one unnest",
      spec.unnest.text)
  elseif spec.keys then
    usage_error "unnest comes before group_by"
  elseif spec.refs then
    usage_error "unnest comes before select"
  elseif spec.reader and not spec.reader.sides then
    usage_error "unnest: a query over records or spans expected, got one over records in spans"
  end
end

-- The record of a span that has the view, and the view's name: "open.callchain", or "callchain"
-- for that of the opening record. Records themselves have no sides.
local function split(spec, view)
  if not spec.reader or type(view) ~= "string" then return nil, view end
  local side, name = view:match "^(%a+)%.([%w_]+)$"
  if side == "open" or side == "close" then return side, name end
  return "open", view
end

-- Raises where the samples of spans are those of single counter values.
local function check_read(spec)
  local reading = spec.reader and spec.reader.made.reading
  if reading and reading.expand and events.any_counters(spec.file) then
    usage_error("unnest: the records of these spans have one counter value each; "
      .. "pair samples { expand = false } instead")
  end
end

-- Returns the prefix of the members of items.
local function prefix_of(view, as)
  if as == nil then return items.prefix(view) end
  if type(as) ~= "string" or not as:find "^[%a_][%w_]*$" then
    usage_error("unnest: `as`: expected a name such as \"%s\", got %s", items.prefix(view),
      suggest.kind(as))
  elseif fields.is_known(as) then
    usage_error("unnest: `as`: '%s' is already the name of a field", as)
  end
  return as
end

---@param spec table of a query
---@param view string of records, or of a side of spans
---@param options { as: string?, once: string?, inline: boolean? }?
---@return table # the changes that it makes
local function unnest(spec, view, options)
  check_query(spec)
  local text = view
  local side
  side, view = split(spec, view)
  if not items.prefix(view) then
    local message = ("unnest: the items of '%s' cannot be rows; expected one of %s"):format(
      tostring(view), NAMES)
    usage_error("%s", suggest.message(message, tostring(view), items.views()))
  end
  options = options or {}
  if type(options) ~= "table" then
    usage_error("unnest: a table { as, once, inline } expected, got %s", suggest.kind(options))
  end
  errors.check_options(options, "UnnestOptions", "unnest: unknown option '%s'")
  spec.scope:ref(text) -- raises where no record has it
  if view == "read" then check_read(spec) end
  local prefix = prefix_of(view, options.as)
  if options.inline and view ~= "callchain" then
    usage_error("unnest: `inline` is an option for callchain, not for %s", view)
  end
  local scope = items.scope(spec.scope, view, prefix)
  local once = options.once ~= nil and scope:ref(options.once) or nil
  if once and (once.kind == "view" or once.kind == "nil") then
    usage_error("unnest: `once`: %s is a view; name one of its fields", once.text)
  end
  return {
    scope = scope, expand = spec.expand and view ~= "read",
    unnest = {
      view = view, side = side, text = side and side .. "." .. view or view, prefix = prefix,
      once = once, inline = options.inline and true or nil, n_filters = #spec.filters,
    },
  }
end

return unnest
