-- The most memory that this process had so far, in kB; for scripts of specs.
return function()
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmHWM:%s+(%d+)"
    if kb then return tonumber(kb) end
  end
end
