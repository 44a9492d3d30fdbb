/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare: `nginx -t` says what a reload will change for the counters that are there. It only looks; where there is no table,
 * or one that cannot be read, there is nothing to say.
 */
#include "doors/nginx/take/take.h"

#include "policy/zones.h"


#define NGX_HTTP_WEIR_OTHER_KIND                                              \
    "its table serves a policy and takes no zones: name another one, "        \
    "weir_limit_table PATH"


void
ngx_http_weir_take_compare(ngx_cycle_t *cycle, const char *table)
{
    char                             words[1024], *line, *end;
    ngx_uint_t                       anew;
    struct policy_image             *published;
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_weir_take_module);

    if (tmcf == NULL || !ngx_http_weir_has(&tmcf->realm)) {
        return;
    }

    published = ngx_http_weir_published_at(table);
    if (published == NULL) {
        return;
    }

    if (zones_may_replace(published->image)) {
        anew = zones_difference(published->image, tmcf->image, words,
                                sizeof(words));

    } else {
        (void) ngx_cpystrn((u_char *) words, (u_char *)
                           NGX_HTTP_WEIR_OTHER_KIND, sizeof(words));
        anew = 1;
    }

    /* first what takes something from those who are counted */

    for (line = words; *line; line = end) {
        end = line + strcspn(line, "\n");

        if (*end) {
            *end++ = '\0';
        }

        if (anew) {
            anew--;
            ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                          "weir: with a reload: %s", line);

        } else if (!ngx_quiet_mode) {
            /* what is less than a warning nginx does not show who tests */
            ngx_log_stderr(0, "[notice] weir: with a reload: %s", line);
        }
    }

    policy_drop(&published);
}
