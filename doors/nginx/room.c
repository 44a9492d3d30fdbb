/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room: is there room for what a configuration is going to write? Zones that cannot be published limit nothing, so a reload that would
 * add or change some on a full file system is refused, and the old configuration goes on.
 */
#include "doors/nginx/gate.h"

#include <sys/statvfs.h>

#include "policy/place.h"


static ngx_uint_t ngx_http_weir_room_unchanged(ngx_http_weir_realm_t *realm,
    const char *path);


uint64_t
ngx_http_weir_room(const char *path)
{
    char            folder[PLACE_MAX], *slash;
    struct statvfs  fs;

    (void) ngx_cpystrn((u_char *) folder, (u_char *) path, PLACE_MAX);

    while (statvfs(folder, &fs) == -1) {
        slash = strrchr(folder, '/');

        if (slash == NULL || slash == folder) {
            return UINT64_MAX;
        }

        *slash = '\0';
    }

    return (uint64_t) fs.f_bavail * (uint64_t) fs.f_frsize;
}


char *
ngx_http_weir_room_check(ngx_cycle_t *cycle, ngx_http_weir_realm_t *realm,
    const char *path)
{
    uint64_t              room, need;
    ngx_uint_t            level;
    struct table_options  options;

    room = ngx_http_weir_room(path);

    if (access(path, F_OK) == -1) {

        ngx_memzero(&options, sizeof(struct table_options));
        options.size = realm->size;
        options.process_slots = table_slots_for(0);

        if (ngx_test_config
            && table_room(&options) + 2 * realm->image->size > room)
        {
            ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                          "weir: %s: there is no room for a table of %uL "
                          "bytes: %uL are free. A smaller one will be made, "
                          "which forgets sooner; without room for that, "
                          "nothing is limited. Make room, or name another "
                          "place: %s PATH",
                          path, realm->size, room, realm->directive);
        }

        return NGX_CONF_OK;
    }

    need = 2 * realm->image->size
           + 2 * realm->image->counters.count * 64 + 4 * ngx_pagesize;

    if (room >= need || ngx_http_weir_room_unchanged(realm, path)) {
        return NGX_CONF_OK;
    }

    level = ngx_is_init_cycle(cycle->old_cycle) && !ngx_test_config
            ? NGX_LOG_WARN : NGX_LOG_EMERG;

    ngx_log_error(level, cycle->log, 0,
                  "weir: %s: there is no room to write down zones that are "
                  "new or have changed: %uL bytes are free, %uL are needed. "
                  "Make room, or name another place: %s PATH",
                  path, room, need, realm->directive);

    return level == NGX_LOG_WARN ? NGX_CONF_OK : NGX_CONF_ERROR;
}


static ngx_uint_t
ngx_http_weir_room_unchanged(ngx_http_weir_realm_t *realm, const char *path)
{
    ngx_uint_t            same;
    struct policy_image  *image;

    image = ngx_http_weir_published_at(path);
    same = image && ngx_http_weir_same(realm, image->image);

    policy_drop(&image);

    return same;
}
