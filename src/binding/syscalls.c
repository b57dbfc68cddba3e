/* Names of system calls and of errors by number. */
#include "functions.h"
#include "perfdata/tracepoint/syscalls.h"

/*
 * Returns the numbers of the machine that an argument names; without one, those of this
 * machine. Raises if there are none.
 */
static const struct pd_abi *check_abi(lua_State *L, int arg)
{
	const char *machine = luaL_optstring(L, arg, NULL);
	const struct pd_abi *abi = machine ? pd_abi_find(machine, 0) : pd_abi_of_host();

	if (!abi && machine)
		luaL_argerror(L, arg,
			      lua_pushfstring(L, "the numbers of '%s' are not known", machine));
	return abi;
}

/* core.syscall(number [, machine]) -> name | nil */
int pl_syscall(lua_State *L)
{
	uint64_t number = (uint64_t)luaL_checkinteger(L, 1);

	lua_pushstring(L, pd_syscall_name(check_abi(L, 2), number)); /* of NULL: nil */
	return 1;
}

/* core.errno(number [, machine]) -> name | nil; of 2 and of -2 */
int pl_errno(lua_State *L)
{
	lua_Integer number = luaL_checkinteger(L, 1);
	uint64_t positive = number < 0 ? -(uint64_t)number : (uint64_t)number;

	lua_pushstring(L, pd_errno_name(check_abi(L, 2), positive));
	return 1;
}
