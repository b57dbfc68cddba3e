-- The key pid of reports: a thread and its last name, as perf shows them: "10673:sort".

local thread_key = {}

---@param file perflua.File
---@param options { padded: boolean? } padded: in columns of a terminal, as perf prints them
---@return table # the key's Ref, a function of a sample
function thread_key.ref(file, options)
  local form, texts = options.padded and "%7d:%s" or "%d:%s", {}
  local function find_thread(sample)
    local tid = sample.tid
    if not tid then return nil end
    local text = texts[tid]
    if not text then
      local thread = file:thread(tid)
      text = form:format(tid, tid == 0 and "swapper" or thread and thread.comm
        or (":%d"):format(tid))
      texts[tid] = text
    end
    return text
  end
  return { text = "pid", kind = "function", shows = "string", plain = false,
    get = find_thread }
end

return thread_key
