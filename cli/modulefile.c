/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modulefile: an nginx module's version, without loading it (it would miss nginx's symbols).
 *
 * The shared object exports ngx_modules, an array of pointers to module records. The first pointer is filled
 * in by a relocation; the record it leads to begins with ctx_index, index, name, spare0, spare1, then the
 * version that nginx compares with its own. Every number in the file is bounded before it is used: the file
 * may be anything.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/nginx.h"

#define VERSION_FIELD 40 /* five words before it */

struct file {
	const unsigned char *bytes;
	size_t size;
	const Elf64_Ehdr *header;
};

/* `count` records of `item` bytes at `offset`, or NULL. */
static const void *at(const struct file *file, uint64_t offset, uint64_t count, uint64_t item)
{
	if (offset % 8 != 0 || offset > file->size || count > (file->size - offset) / item)
		return NULL;
	return file->bytes + offset;
}

static const Elf64_Shdr *sections(const struct file *file)
{
	return file->header->e_shentsize == sizeof(Elf64_Shdr)
		       ? at(file, file->header->e_shoff, file->header->e_shnum, sizeof(Elf64_Shdr))
		       : NULL;
}

/* A virtual address as an offset of the file; UINT64_MAX: none of it. */
static uint64_t offset_of(const struct file *file, uint64_t address)
{
	const Elf64_Phdr *program = file->header->e_phentsize == sizeof *program
					    ? at(file, file->header->e_phoff, file->header->e_phnum,
						 sizeof *program)
					    : NULL;
	for (unsigned i = 0; program && i < file->header->e_phnum; i++)
		if (program[i].p_type == PT_LOAD && address >= program[i].p_vaddr &&
		    address - program[i].p_vaddr < program[i].p_filesz)
			return program[i].p_offset + (address - program[i].p_vaddr);
	return UINT64_MAX;
}

static bool is_named(const struct file *file, const Elf64_Shdr *names, uint32_t offset, const char *name)
{
	size_t size = strlen(name) + 1;
	return names->sh_offset <= file->size && offset <= names->sh_size &&
	       names->sh_size <= file->size - names->sh_offset && size <= names->sh_size - offset &&
	       memcmp(file->bytes + names->sh_offset + offset, name, size) == 0;
}

/* Address of an exported symbol; 0: none. */
static uint64_t symbol(const struct file *file, const char *name)
{
	const Elf64_Shdr *section = sections(file);
	for (unsigned i = 0; section && i < file->header->e_shnum; i++) {
		uint64_t count = section[i].sh_size / sizeof(Elf64_Sym);
		const Elf64_Sym *symbols;
		if (section[i].sh_type != SHT_DYNSYM || section[i].sh_link >= file->header->e_shnum ||
		    !(symbols = at(file, section[i].sh_offset, count, sizeof *symbols)))
			continue;
		for (uint64_t j = 0; j < count; j++)
			if (is_named(file, &section[section[i].sh_link], symbols[j].st_name, name))
				return symbols[j].st_value;
	}
	return 0;
}

/* What the loader will write at `address`, relative to where the object is loaded; 0: nothing. */
static uint64_t relocated(const struct file *file, uint64_t address)
{
	const Elf64_Shdr *section = sections(file);
	for (unsigned i = 0; section && i < file->header->e_shnum; i++) {
		uint64_t count = section[i].sh_size / sizeof(Elf64_Rela);
		const Elf64_Rela *relocations;
		if (section[i].sh_type != SHT_RELA ||
		    !(relocations = at(file, section[i].sh_offset, count, sizeof *relocations)))
			continue;
		for (uint64_t j = 0; j < count; j++)
			if (relocations[j].r_offset == address && ELF64_R_SYM(relocations[j].r_info) == 0)
				return (uint64_t)relocations[j].r_addend;
	}
	return 0;
}

static unsigned version_of(const struct file *file)
{
	const uint64_t *version;
	uint64_t list = symbol(file, "ngx_modules"), record = list ? relocated(file, list) : 0, place;
	if (!record || (place = offset_of(file, record)) == UINT64_MAX ||
	    !(version = at(file, place + VERSION_FIELD, 1, sizeof *version)))
		return 0;
	return *version < 1000000 || *version > 999999999 ? 0 : (unsigned)*version;
}

unsigned modulefile_version(const char *path, char *why, size_t size)
{
	struct stat st;
	struct file file;
	unsigned version = 0;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0 || fstat(descriptor, &st) != 0) {
		snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
		if (descriptor >= 0)
			close(descriptor);
		return 0;
	}
	void *bytes = st.st_size >= (off_t)sizeof(Elf64_Ehdr)
			      ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)
			      : MAP_FAILED;
	close(descriptor);
	if (bytes != MAP_FAILED) {
		file = (struct file){bytes, (size_t)st.st_size, bytes};
		if (memcmp(bytes, ELFMAG, SELFMAG) == 0 && file.header->e_ident[EI_CLASS] == ELFCLASS64)
			version = version_of(&file);
		munmap(bytes, (size_t)st.st_size);
	}
	if (!version)
		snprintf(why, size, "%s is no nginx module", path);
	return version;
}
