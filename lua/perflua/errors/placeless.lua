-- What was raised, for who runs a query with options of a command line: there is no line of a script to name.

---@param raised any
---@return string # its message
return function(raised) return (tostring(raised):gsub("^[^:\n]+:%d+: ", "")) end
