/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_machine: what must be there before any door can start. */
#include <errno.h>
#include <string.h>
#include <sys/vfs.h>

#include "cli/doctor.h"
#include "cli/module.h"
#include "cli/out.h"

#define TMPFS 0x01021994 /* linux/magic.h: TMPFS_MAGIC */

struct running_context {
	struct doctor *doctor;
	const char *ours;
};

/* What runs from elsewhere is another installation's: it is told, but not this one's fault. */
static void running(void *context, const struct module_running *found)
{
	const struct running_context *known = context;
	size_t size = strlen(known->ours);
	bool begins = size && strncmp(found->path, known->ours, size) == 0,
	     ours = begins && !found->path[size];
	if (found->state == MODULE_UNREADABLE)
		doctor_say(known->doctor, DOCTOR_NOTE, "running", "look as root: sudo weir doctor",
			   "which module nginx's process %d runs is not for this user to see",
			   (int)found->pid);
	else if (found->state == MODULE_REPLACED || (begins && !ours))
		doctor_say(known->doctor, begins ? DOCTOR_WRONG : DOCTOR_NOTE, "running", MODULE_RESTART,
			   "nginx's process %d still runs the module that was at %s before", (int)found->pid,
			   begins ? known->ours : found->path);
	else if (ours)
		doctor_say(known->doctor, DOCTOR_GOOD, "running", NULL, "nginx's process %d runs it",
			   (int)found->pid);
}

static void nginx(struct doctor *doctor)
{
	struct nginx found;
	char version[16];
	bool good = nginx_find(NULL, NULL, &found);
	if (found.binary_version)
		doctor_say(doctor, DOCTOR_GOOD, "nginx", NULL, "%s is nginx %s", found.binary,
			   nginx_version_text(found.binary_version, version, sizeof version));
	if (good)
		doctor_say(doctor, DOCTOR_GOOD, "module", NULL, "%s was built for it", found.module);
	else
		doctor_say(doctor, DOCTOR_WRONG, found.binary_version ? "module" : "nginx", found.cure, "%s",
			   found.trouble);
	module_running_every(running, &(struct running_context){doctor, found.module});
}

static void shared_memory(struct doctor *doctor)
{
	struct statfs fs;
	char total[32], room[32], all[32];
	uint64_t need = table_room(&(struct table_options){.process_slots = table_slots_for(0)});
	if (statfs("/dev/shm", &fs) != 0) {
		doctor_say(doctor, DOCTOR_WRONG, "memory",
			   "mount a tmpfs there, or name another place: weir_table PATH SIZE", "/dev/shm: %s",
			   strerror(errno));
		return;
	}
	uint64_t size = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize,
		 left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	out_number(size >> 20, total, sizeof total);
	out_number(left >> 20, room, sizeof room);
	out_number((need >> 20) + (need % (1 << 20) != 0), all, sizeof all);
	if (fs.f_type != TMPFS)
		doctor_say(doctor, DOCTOR_WRONG, "memory", "mount a tmpfs at /dev/shm",
			   "/dev/shm is no tmpfs: the table would live on a disk");
	else if (left < need)
		doctor_say(doctor, DOCTOR_WRONG, "memory",
			   "free some, make it larger (docker: --shm-size=64m), or a smaller table: "
			   "weir_table PATH SIZE",
			   "/dev/shm has %s of %s MB free; a table takes %s", room, total, all);
	else
		doctor_say(doctor, DOCTOR_GOOD, "memory", NULL, "/dev/shm has %s of %s MB free", room, total);
}

void doctor_machine(struct doctor *doctor)
{
	nginx(doctor);
	shared_memory(doctor);
}
