/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modulefile: an nginx module's version and signature, without loading it (it would miss nginx's symbols).
 *
 * The shared object exports ngx_modules, an array of pointers to module records. The first pointer is filled
 * in by a relocation; the record it leads to begins with ctx_index, index, name, spare0, spare1, then the
 * version and the signature that nginx compares with its own (ngx_module_s, ngx_add_module). Every number in
 * the file is bounded before it is used: the file may be anything.
 */
#include <elf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/modulefile.h"

#define VERSION_FIELD	40 /* five words before it */
#define SIGNATURE_FIELD 48
#define FEATURES_MIN	20 /* digits of a signature behind its three sizes; 34 since nginx 1.11.5 */

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

/* A word of the file at a virtual address; 0: none. */
static uint64_t word(const struct file *file, uint64_t address)
{
	uint64_t place = offset_of(file, address);
	const uint64_t *value = place == UINT64_MAX ? NULL : at(file, place, 1, sizeof *value);
	return value ? *value : 0;
}

/* What the loader will write at `address`, relative to where the object is loaded; 0: nothing. Packed relative
 * relocations (DT_RELR) keep it in the place itself. */
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
	return word(file, address);
}

/* "8,4,8,0011…" with a NUL behind it, at `offset`: copied to `out`. */
static bool signature_at(const struct file *file, uint64_t offset, char *out)
{
	static const unsigned char SIZES[] = "d,d,d,";
	size_t n = 0, room = offset < file->size ? file->size - offset : 0;
	const unsigned char *text = file->bytes + offset;
	for (; n < sizeof SIZES - 1; n++)
		if (n >= room || (SIZES[n] == 'd' ? !isdigit(text[n]) : text[n] != SIZES[n]))
			return false;
	while (n < room && n < MODULEFILE_SIGNATURE && (text[n] == '0' || text[n] == '1'))
		n++;
	if (n >= room || n >= MODULEFILE_SIGNATURE || text[n] != '\0' || n < sizeof SIZES - 1 + FEATURES_MIN)
		return false;
	memcpy(out, text, n + 1);
	return true;
}

static bool read_module(const struct file *file, struct modulefile *out)
{
	uint64_t list = symbol(file, "ngx_modules"), record = list ? relocated(file, list) : 0;
	uint64_t version = record ? word(file, record + VERSION_FIELD) : 0;
	if (version < 1000000 || version > 999999999)
		return false;
	out->version = (unsigned)version;
	uint64_t text = offset_of(file, relocated(file, record + SIGNATURE_FIELD));
	if (text != UINT64_MAX)
		signature_at(file, text, out->signature);
	return true;
}

/* The whole file, read-only. False with errno, 0 if it is too small to be anything. */
static bool map(const char *path, struct file *file)
{
	struct stat st;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return false;
	void *bytes = MAP_FAILED;
	if (fstat(descriptor, &st) == 0 && st.st_size >= (off_t)sizeof(Elf64_Ehdr))
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	close(descriptor);
	errno = 0;
	if (bytes == MAP_FAILED)
		return false;
	*file = (struct file){bytes, (size_t)st.st_size, bytes};
	return true;
}

static void unmap(const struct file *file)
{
	munmap((void *)(uintptr_t)file->bytes, file->size);
}

bool modulefile_read(const char *path, struct modulefile *out, char *why, size_t size)
{
	struct file file;
	bool found = false;
	*out = (struct modulefile){0};
	if (map(path, &file)) {
		if (memcmp(file.bytes, ELFMAG, SELFMAG) == 0 && file.header->e_ident[EI_CLASS] == ELFCLASS64)
			found = read_module(&file, out);
		unmap(&file);
	} else if (errno) {
		snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
		return false;
	}
	if (!found)
		snprintf(why, size, "%s is no nginx module", path);
	return found;
}

void modulefile_signature_of_binary(const char *path, char *out)
{
	struct file file;
	out[0] = '\0';
	if (!map(path, &file))
		return;
	const unsigned char *end = file.bytes + file.size, *comma = file.bytes;
	/* a comma with a digit before it begins one */
	while ((comma = memchr(comma, ',', (size_t)(end - comma))) != NULL) {
		if (comma > file.bytes && signature_at(&file, (uint64_t)(comma - file.bytes) - 1, out))
			break;
		comma++;
	}
	unmap(&file);
}
