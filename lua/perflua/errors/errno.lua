-- Numbers that io functions give with their message, as the codes that open() gives.

local codes = {
  [1] = "EPERM", [2] = "ENOENT", [12] = "ENOMEM", [13] = "EACCES", [17] = "EEXIST", [20] = "ENOTDIR",
  [21] = "EISDIR", [22] = "EINVAL", [23] = "ENFILE", [24] = "EMFILE", [26] = "ETXTBSY", [27] = "EFBIG",
  [28] = "ENOSPC", [30] = "EROFS", [32] = "EPIPE", [36] = "ENAMETOOLONG", [40] = "ELOOP", [122] = "EDQUOT",
}

---Takes what an io function returned: nil, message, number become nil, message, code.
local function errno(result, message, number)
  if result or not message then return result, message, number end
  return nil, message, codes[number] or "EIO"
end

return errno
