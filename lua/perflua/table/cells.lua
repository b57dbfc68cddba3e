-- Rows and columns of a turned table, as scripts see and as they are written: "cpu=3", or with
-- several measures "cpu=3:period".

local fmt = require "perflua.text.fmt"
local pivot = require "perflua.table.pivot"

local cells = {}

-- Kinds of keys that false may be a value of.
local may_be_false = { boolean = true, any = true, ["function"] = true }

-- A key's value as row.pivot has it: an absent one is false, or "nil" where false is a value.
local function name_value(key, kind)
  local value = pivot.value_of(key)
  if value ~= nil then return value end
  return may_be_false[kind] and "nil" or false
end

-- The columns of each cell: measures, and what is computed of them.
local function cell_places(view)
  local places = {}
  for place, column in ipairs(view.columns) do
    if column.measured then places[#places + 1] = place end
  end
  return places
end

-- Returns a cell as scripts see it: its value, or a table of several.
local function read_cell(line, view, places)
  if #places == 1 then return line[places[1]] end
  local values = {}
  for _, place in ipairs(places) do values[view.columns[place].name] = line[place] end
  return values
end

---Fills a row that a script gets.
---@param row table
---@param line table see lines.lua
---@param view table with a pivot
function cells.fill_row(row, line, view)
  local kind, places = view.columns[view.pivot].kind, cell_places(view)
  local is_event = kind == "event" -- values of several events are not added together
  for place, column in ipairs(view.columns) do
    if place ~= view.pivot and not (column.measured and is_event) then
      row[column.name] = line[place]
    end
  end
  row.pivot = {}
  for key, cell in pairs(line.cells) do
    row.pivot[name_value(key, kind)] = read_cell(cell, view, places)
  end
  row.other = line.other and read_cell(line.other, view, places)
end

-- Appends a column for each measure of a cell. key is that of the cell; nil: of all others.
local function add_cells(columns, view, places, name, key)
  for _, place in ipairs(places) do
    local column = view.columns[place]
    columns[#columns + 1] = {
      name = #places > 1 and name .. ":" .. column.name or name, kind = column.kind,
      unit = column.unit, measured = true, key = key, place = place,
    }
  end
end

-- The values that are columns in one of the events of some lines, in order, and whether there
-- are others.
local function columns_of_events(list, view, by_event)
  local values, known, others, seen = {}, {}, false, {}
  for _, line in ipairs(list) do
    local one = not seen[line.event] and by_event[line.event]
    seen[line.event] = true
    for _, key in ipairs(one and one.values or {}) do
      if not known[key] then values[#values + 1], known[key] = key, true end
    end
    others = others or one and one.others
  end
  return pivot.sort_values(values, view.columns[view.pivot].kind), others
end

---Makes rows with a column for each cell.
---@param list table[] lines
---@param view table with a pivot
---@param turned table see pivot.lua
---@param is_text boolean? for the eyes: with units
---@return table[] columns
---@return any[][] rows # by column
function cells.rows(list, view, turned, is_text)
  local columns, rows, places = {}, {}, cell_places(view)
  for place, column in ipairs(view.columns) do
    if not column.measured and place ~= view.pivot then
      columns[#columns + 1] = { name = column.name, kind = column.kind, unit = column.unit,
        place = place }
    end
  end
  local n_keys, key = #columns, view.columns[view.pivot]
  local values, others = columns_of_events(list, view, turned.by_event)
  for _, value in ipairs(values) do
    local shown = pivot.value_of(value)
    local text = shown == nil and "nil"
      or is_text and key.unit and fmt.cell(shown, key.kind, key.unit, true)
      or fmt.exact(shown, key.kind)
    add_cells(columns, view, places, key.name .. "=" .. text, value)
  end
  if others then add_cells(columns, view, places, "other") end
  for l, line in ipairs(list) do
    local row = {}
    for i, column in ipairs(columns) do
      local from = line
      if i > n_keys then
        if column.key == nil then from = line.other else from = line.cells[column.key] end
      end
      row[i] = from and from[column.place]
    end
    rows[l] = row
  end
  return columns, rows
end

return cells
