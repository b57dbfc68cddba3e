#include "internal.h"

#include <stdbool.h>

/* Maps of opcodes that prefixes name: see Intel's manual, volume 2, chapter 2.3. */
enum {
	MAP_0F = 1,
	MAP_0F3A = 3,
};

/* Returns the size of ModR/M, SIB and displacement; 0: they are not there. */
static size_t operand_size(const unsigned char *bytes, size_t n)
{
	unsigned mod, rm;
	size_t size = 1;

	if (!n)
		return 0;
	mod = bytes[0] >> 6;
	rm = bytes[0] & 7;
	if (mod == 3)
		return size;
	if (rm == 4) {
		if (n < 2)
			return 0;
		rm = bytes[1] & 7;
		size++;
	}
	if (mod == 1)
		return size + 1;
	return mod == 2 || rm == 5 ? size + 4 : size;
}

static bool has_immediate(unsigned map, unsigned char opcode)
{
	if (map == MAP_0F3A)
		return true;
	return map == MAP_0F && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
				 (opcode >= 0xc4 && opcode <= 0xc6));
}

size_t pi_vex_size(const unsigned char *bytes, size_t n)
{
	unsigned map = MAP_0F;
	size_t size, operand;

	if (n < 4)
		return 0;
	if (bytes[0] == 0xc5) {
		size = 2;
	} else if (bytes[0] == 0xc4) {
		map = bytes[1] & 0x1f;
		size = 3;
	} else if (bytes[0] == 0x62) {
		map = bytes[1] & 7;
		size = 4;
	} else {
		return 0;
	}
	if (size + 1 >= n)
		return 0;
	operand = operand_size(bytes + size + 1, n - size - 1);
	if (!operand)
		return 0;
	size += 1 + operand + has_immediate(map, bytes[size]);
	return size <= n ? size : 0;
}
