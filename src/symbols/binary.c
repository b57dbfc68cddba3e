/* Loads symbols of files that processes mapped. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load_internal.h"
#include "pick.h"
#include "proof.h"

static bool load_found(struct ps_pick *pick)
{
	bool loaded = ps_pick_load(pick, PS_FILE_OFFSETS) &&
		      ps_table_finish(&pick->dso->table, PS_FILE);

	ps_pick_deinit(pick);
	return loaded;
}

bool ps_load_user(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	struct ps_pick pick;

	(void)load_other;
	if (!ps_check_proof(dso))
		return false;
	ps_pick_init(&pick, dso);
	ps_find(dso, ps_pick_try, &pick);
	return load_found(&pick);
}

/* Writes the vdso that the kernel gave this process to `fd`. Its section headers come last. */
static bool write_own_vdso(int fd)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image;
	size_t size;

	if (!image || memcmp(image, ELFMAG, SELFMAG) != 0)
		return false;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	return write(fd, image, size) == (ssize_t)size;
}

/*
 * Finds this process's vdso as an unlinked file, which lives as long as the store. `path` is
 * how to open it.
 */
static bool find_own_vdso(struct ps_store *store, char *path, size_t size)
{
	if (store->vdso_fd < 0) {
		store->vdso_fd = memfd_create("vdso", MFD_CLOEXEC);
		if (store->vdso_fd < 0)
			return false;
		if (!write_own_vdso(store->vdso_fd)) {
			close(store->vdso_fd);
			store->vdso_fd = -1;
			return false;
		}
	}
	snprintf(path, size, "/proc/self/fd/%d", store->vdso_fd);
	return true;
}

/*
 * The running kernel has the recorded vdso if the build-ids are equal, or if it is the recorded
 * kernel. It does not show its vdsos for 32-bit programs.
 */
bool ps_load_vdso(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	struct ps_pick pick;
	char path[64];

	if (!dso->id.build_id.size && !ps_kernel_runs(dso->store, load_other)) {
		dso->reason = "its build-id was not recorded, so no kernel can be matched";
		return false;
	}
	ps_pick_init(&pick, dso);
	if (!ps_find(dso, ps_pick_try, &pick) && strcmp(dso->id.name, "[vdso]") == 0 &&
	    !dso->id.guest && find_own_vdso(dso->store, path, sizeof(path)))
		ps_pick_try(&pick, &(struct ps_candidate){ path, PS_IMAGE,
							   "the kernel that runs here" });
	return load_found(&pick);
}
