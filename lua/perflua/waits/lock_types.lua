-- Kinds of locks, and functions that are part of them.

local lock_types = {}

-- The flags of lock:contention_begin, from <trace/events/lock.h>.
local SPIN <const>, READ <const>, WRITE <const>, RT <const>, PERCPU <const>, MUTEX <const> = 1,
  2, 4, 8, 16, 32

-- By flags, as perf lock contention names them.
local names = {
  [0] = "semaphore", [SPIN] = "spinlock", [SPIN | READ] = "rwlock:R",
  [SPIN | WRITE] = "rwlock:W",
  [READ] = "rwsem:R", [WRITE] = "rwsem:W", [RT] = "rt-mutex", [RT | READ] = "rwlock-rt:R",
  [RT | WRITE] = "rwlock-rt:W",
  [PERCPU] = "pcpu-sem", [PERCPU | READ] = "pcpu-sem:R", [PERCPU | WRITE] = "pcpu-sem:W",
  [MUTEX] = "mutex", [MUTEX | SPIN] = "mutex",
}

---@param flags integer
---@return string
function lock_types.name(flags) return names[flags] or ("0x%x"):format(flags) end

-- The kernel's functions that take locks or give up the processor: those of its sections
-- .spinlock.text and .sched.text which may stand between a wait and who asked for the lock.
local patterns = {
  "^_raw_%a+_%a*lock", "queued_%a+_%a*lock", "^resilient_%a+_spin_lock",
  "^_*w?w?_?mutex_%a*lock", "rt_mutex",
  "^mark_wakeup_next_waiter", "^remove_waiter", "^rwsem_", "^_*down$", "^_*down_[cikrtw]%a+",
  "^_*up$", "^__up%.",
  "^_*percpu_down_", "^ldsem_down_", "^_*schedule$", "^schedule_idle$",
  "^schedule_preempt_disabled$",
  "^schedule_%a*timeout", "^io_schedule$", "^io_schedule_timeout", "^_*preempt_schedule",
  "^_*cond_resched$",
  "^console_conditional_schedule$", "^yield$", "^yield_to$", "^usleep_range",
  "nanosleep_restart$", "^do_nanosleep$",
  "^_*wait_on_bit", "^bit_wait$", "^bit_wait_[it]", "^out_of_line_wait_on_bit",
  "^_*wait_for_common",
  "^wait_for_completion",
}

local known = {} -- by name

---@param symbol string
---@return boolean
function lock_types.is_locking(symbol)
  if known[symbol] == nil then
    known[symbol] = false
    for _, pattern in ipairs(patterns) do
      if symbol:find(pattern) then known[symbol] = true end
    end
  end
  return known[symbol]
end

return lock_types
