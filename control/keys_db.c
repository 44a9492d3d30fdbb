/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_db: opening the database, if it and its folder can be trusted. */
#include "control/keys_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/keys_inside.h"
#include "table/trust.h"

/* Looked at by name, not opened: closing a descriptor of ours would drop SQLite's locks on the file. */
static enum weir_error look(int folder, const char *path, const char *name, bool *there,
			    struct keys_trouble *trouble)
{
	struct stat st;
	char cure[PATH_MAX + 64];
	*there = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*there && errno != ENOENT)
		return keys_trouble(trouble, WEIR_SYSTEM, "", "%s: %s", path, strerror(errno));
	if (!*there)
		return WEIR_OK;
	if (!S_ISREG(st.st_mode))
		return keys_trouble(trouble, WEIR_FOREIGN, "name another path", "%s: is not a file", path);
	if (st.st_uid != geteuid()) {
		snprintf(cure, sizeof cure, "chown it to the owner of its folder, uid %u",
			 (unsigned)geteuid());
		return keys_trouble(trouble, WEIR_OWNER, cure, "%s: belongs to uid %u, not to uid %u", path,
				    (unsigned)st.st_uid, (unsigned)geteuid());
	}
	if (st.st_mode & 077) {
		snprintf(cure, sizeof cure, "chmod 600 %s", path);
		return keys_trouble(trouble, WEIR_OWNER, cure, "%s: others can read or write it (mode %04o)",
				    path, st.st_mode & 07777u);
	}
	return WEIR_OK;
}

/* Empty, private whatever the umask; SQLite's files beside it get its mode. */
static enum weir_error make(int folder, const char *name, struct keys_trouble *trouble)
{
	struct file_new file;
	bool taken;
	const struct why why = {trouble->why, sizeof trouble->why};
	trouble->cure[0] = '\0';
	enum weir_error error = file_make(folder, 0, &file, &why);
	if (error == WEIR_OK) {
		error = file_name(&file, name, false, &taken, &why);
		file_drop(&file);
	}
	return trouble->error = error;
}

static enum weir_error open_sql(struct keys_db *db, enum keys_how how, struct keys_trouble *trouble)
{
	/* no links: the folder's path was resolved; not in a folder that others write, so what was looked at is what is opened */
	bool read_only = access(db->path, W_OK) != 0 && errno == EROFS;
	char uri[PATH_MAX + 64];
	int flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
	if (read_only && (how != KEYS_READ || strpbrk(db->path, "?#%")))
		return keys_trouble(trouble, WEIR_READ_ONLY, "change keys where the database can be written",
				    "%s: on a read-only file system", db->path);
	snprintf(uri, sizeof uri, read_only ? "file:%s?immutable=1" : "%s", db->path);
	flags |= read_only ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
	int code = sqlite3_open_v2(uri, &db->sql, flags, NULL);
	if (code != SQLITE_OK)
		return keys_trouble_sql(trouble, db->sql, code, db->path);
	sqlite3_busy_timeout(db->sql, (int)db->wait_ms);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	enum weir_error error = keys_schema(db, how == KEYS_CREATE, trouble);
	if (error == WEIR_OK && !read_only) {
		code = sqlite3_exec(db->sql,
				    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA "
				    "foreign_keys = ON; PRAGMA cell_size_check = ON",
				    NULL, NULL, NULL);
		if (code != SQLITE_OK)
			error = keys_trouble_sql(trouble, db->sql, code, db->path);
	}
	return error;
}

static enum weir_error none(const char *path, struct keys_trouble *trouble)
{
	char cure[PATH_MAX + 64];
	snprintf(cure, sizeof cure, "`weir keys add NAME --database %s` makes it", path);
	return keys_trouble(trouble, WEIR_NOT_FOUND, cure, "%s: no database of API keys", path);
}

static enum weir_error open_in(int folder, const char *name, struct keys_db *db, enum keys_how how,
			       struct keys_trouble *trouble)
{
	struct ring_state state;
	bool there;
	enum weir_error error = look(folder, db->path, name, &there, trouble);
	if (error == WEIR_OK && !there && how == KEYS_CREATE) {
		error = make(folder, name, trouble);
	} else if (error == WEIR_OK && !there) {
		return none(db->path, trouble);
	}
	if (error == WEIR_OK)
		error = open_sql(db, how, trouble);
	if (error == WEIR_OK)
		error = keys_state(db, &state, trouble);
	return error;
}

enum weir_error keys_db_open(const char *path, enum keys_how how, unsigned wait_ms, struct keys_db **out,
			     struct keys_trouble *trouble)
{
	char folder_path[PATH_MAX], *resolved;
	const char *name, *slash = strrchr(path, '/');
	int folder;
	*out = NULL;
	*trouble = (struct keys_trouble){0};
	enum weir_error error = file_folder(path, how == KEYS_CREATE, &folder, &name,
					    &(struct why){trouble->why, sizeof trouble->why});
	if (error == WEIR_NOT_FOUND)
		return none(path, trouble);
	if (error != WEIR_OK)
		return trouble->error = error;
	struct keys_db *db = calloc(1, sizeof *db);
	snprintf(folder_path, sizeof folder_path, "%.*s", slash ? (int)(slash - path) + 1 : 2,
		 slash ? path : "./");
	resolved = realpath(folder_path, NULL);
	if (!db || !resolved) {
		error = keys_trouble(trouble, WEIR_SYSTEM, "", "%s: %s", folder_path, strerror(errno));
	} else if (snprintf(db->path, sizeof db->path, "%s%s%s", strcmp(resolved, "/") == 0 ? "" : resolved,
			    "/", name) >= (int)(sizeof db->path - 32)) {
		error = keys_trouble(trouble, WEIR_SYSTEM, "", "%s: too long", path);
	} else {
		db->wait_ms = wait_ms;
		error = open_in(folder, name, db, how, trouble);
	}
	free(resolved);
	close(folder);
	if (error != WEIR_OK)
		keys_db_close(&db);
	*out = db;
	return error;
}

void keys_db_close(struct keys_db **db)
{
	if (!*db)
		return;
	ring_write_close(&(*db)->ring);
	sqlite3_close((*db)->sql);
	explicit_bzero((*db)->pepper, sizeof(*db)->pepper);
	free(*db);
	*db = NULL;
}

sqlite3 *keys_db_sql(struct keys_db *db)
{
	return db->sql;
}

const char *keys_db_path(const struct keys_db *db)
{
	return db->path;
}

const uint8_t *keys_db_pepper(const struct keys_db *db)
{
	return db->pepper;
}

void keys_db_hash(const struct keys_db *db, struct text secret, uint8_t hash[HMAC_SIZE])
{
	ring_hash(&db->hash, secret, hash);
}
