/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process: a worker starts and ends; and who publishes.
 *
 * The policy compiled at configuration is published by the first worker of a started configuration, once: a word in a
 * page that master and workers share says that it is done. A worker that replaces a dead one publishes nothing, or it
 * would undo what `weir control` has published since. Cache manager and loader do nothing.
 */
#include "doors/nginx/gate.h"

#include <signal.h>


static ngx_uint_t ngx_http_weir_claim(ngx_http_weir_shared_t *shared);


ngx_int_t
ngx_http_weir_init_process(ngx_cycle_t *cycle)
{
    struct algo_time            t;
    ngx_http_conf_ctx_t        *ctx;
    ngx_http_weir_main_conf_t  *mcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    ctx = (ngx_http_conf_ctx_t *) ngx_get_conf(cycle->conf_ctx,
                                               ngx_http_module);
    if (ctx == NULL) {
        return NGX_OK;
    }

    mcf = ctx->main_conf[ngx_http_weir_gate_module.ctx_index];

    if (mcf->path.len) {
        /* whatever fails is logged, and tried again at a request */
        (void) ngx_http_weir_world(mcf, &t);
    }

    return NGX_OK;
}


void
ngx_http_weir_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_weir_log_flush();
    ngx_http_weir_world_close();
}


ngx_int_t
ngx_http_weir_publish(ngx_http_weir_main_conf_t *mcf, struct table *table,
    const struct image *last)
{
    char                    why[1024];
    ngx_uint_t              claimed;
    enum weir_error         error;
    const struct image     *image;
    struct publish_report   report;

    claimed = mcf->started ? 0 : ngx_http_weir_claim(mcf->shared);

    if (claimed) {
        image = mcf->policy.image;

    } else {
        mcf->started = 1;

        if (table_generation(table) != 0) {
            return NGX_OK;
        }

        /* an empty table, after its file was removed: what has been in force, edits included */

        image = last ? last : mcf->policy.image;
    }

    error = policy_publish(table, image, &report, why, sizeof(why));

    if (error != WEIR_OK) {
        if (claimed) {
            mcf->shared->publisher = 0;
        }

        ngx_http_weir_complain(mcf->log, why, error,
                               table_generation(table) != 0
                               ? "the policy published before is in force"
                               : "requests pass undecided");
        return NGX_ERROR;
    }

    if (claimed) {
        mcf->shared->publisher = NGX_HTTP_WEIR_PUBLISHED;
    }

    mcf->started = 1;

    if (!report.unchanged) {
        ngx_log_error(NGX_LOG_NOTICE, mcf->log, 0,
                      "weir: published generation %uL of \"%V\": %s",
                      report.generation, &mcf->path, report.words);
    }

    return NGX_OK;
}


/* Is it this process's turn to publish? A claimant killed on the way is succeeded. */

static ngx_uint_t
ngx_http_weir_claim(ngx_http_weir_shared_t *shared)
{
    ngx_atomic_uint_t  publisher;

    publisher = shared->publisher;

    if (publisher == NGX_HTTP_WEIR_PUBLISHED) {
        return 0;
    }

    if (publisher != 0
        && (kill((pid_t) publisher, 0) == 0 || ngx_errno != NGX_ESRCH))
    {
        return 0;
    }

    return ngx_atomic_cmp_set(&shared->publisher, publisher,
                              (ngx_atomic_uint_t) ngx_pid);
}
