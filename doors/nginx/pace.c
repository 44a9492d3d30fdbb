/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace: how fast a response goes.
 *
 * nginx's write filter does the pacing, by limit_rate: it holds back what is too early, and lets a client that reads slowly do
 * so. Of one response: limit_rate and limit_rate_after, unless the configuration's are smaller. Of all responses of a key: before
 * each writing the two are set so that the filter computes the amount that the key's bucket has granted, or the time until it
 * grants some. The filter's sum (1.22, and all before and after it until now):
 *
 *     limit = limit_rate * (ngx_time() - start_sec + 1) - (c->sent - limit_rate_after)
 *     > 0: so much may be sent; else: nothing for 1 - limit * 1000 / limit_rate milliseconds
 */
#include "doors/nginx/gate.h"


#define NGX_HTTP_WEIR_PACE_MIN  4096
#define NGX_HTTP_WEIR_PACE_MAX  (256 * 1024)
#define NGX_HTTP_WEIR_PACE_WAIT 1000    /* ms: looks again at least that often */


static off_t ngx_http_weir_pace_allowed(ngx_http_request_t *r, size_t rate,
    size_t after);


/* Before the header goes out: the configuration's limit_rate, X-Accel-Limit-Rate included, is known. */

ngx_int_t
ngx_http_weir_pace_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    size_t                     rate;
    struct flow_pace           pace;
    ngx_http_core_loc_conf_t  *clcf;

    if (visit->paced || visit->flow->verdict.action != FLOW_PASS) {
        return NGX_OK;
    }

    visit->paced = 1;

    flow_pace(visit->flow, &pace);

    if (pace.bytes_per_s == 0 && !pace.total) {
        return NGX_OK;
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (!r->limit_rate_set) {
        r->limit_rate = ngx_http_complex_value_size(r, clcf->limit_rate, 0);
        r->limit_rate_set = 1;
    }

    if (!r->limit_rate_after_set) {
        r->limit_rate_after = ngx_http_complex_value_size(r,
                                                   clcf->limit_rate_after, 0);
        r->limit_rate_after_set = 1;
    }

    if (pace.bytes_per_s) {
        rate = ngx_min(pace.bytes_per_s, NGX_MAX_SIZE_T_VALUE);

        if (r->limit_rate == 0 || rate < r->limit_rate) {
            r->limit_rate = rate;
            r->limit_rate_after = ngx_min(pace.free_bytes,
                                          NGX_MAX_OFF_T_VALUE);
        }
    }

    if (!pace.total) {
        return NGX_OK;
    }

    visit->pace = ngx_pcalloc(r->pool, sizeof(ngx_http_weir_pace_t));
    if (visit->pace == NULL) {
        return NGX_ERROR;
    }

    visit->pace->rate = r->limit_rate;
    visit->pace->after = r->limit_rate_after;
    visit->pace->total = ngx_max(ngx_min(pace.total_bytes_per_s, NGX_MAX_SIZE_T_VALUE), 1);
    visit->pace->sent = r->connection->sent;

    ngx_http_set_ctx(r, visit, ngx_http_weir_filter_module);

    return NGX_OK;
}


/* Before each writing: what may be sent now, in the write filter's own terms. */

void
ngx_http_weir_pace_steer(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    off_t                  limit, own;
    size_t                 rate;
    uint64_t               want, wait_ns;
    struct algo_time       t;
    ngx_connection_t      *c;
    ngx_http_weir_pace_t  *pace;

    c = r->connection;
    pace = visit->pace;

    if (c->write->delayed) {
        return;    /* nothing is written now */
    }

    pace->credit -= c->sent - pace->sent;
    pace->sent = c->sent;

    rate = pace->total;
    wait_ns = 0;

    if (pace->credit <= 0) {
        want = ngx_min(ngx_max(rate / 8, NGX_HTTP_WEIR_PACE_MIN),
                       NGX_HTTP_WEIR_PACE_MAX);

        table_time(visit->world->env.table, &t);
        pace->credit += flow_pace_take(visit->flow, &t, want - pace->credit,
                                       &wait_ns);
    }

    limit = pace->credit;

    if (limit <= 0) {
        /* 1 ms is the filter's own */
        limit = - (off_t) ((double) rate
                           * ngx_min(wait_ns / 1000000, NGX_HTTP_WEIR_PACE_WAIT) / 1000);
    }

    if (pace->rate) {
        own = ngx_http_weir_pace_allowed(r, pace->rate, pace->after);

        if (own < limit) {
            limit = own;
            rate = pace->rate;
        }
    }

    /* the filter's sum solved for limit_rate_after; what is below 0 wraps, and wraps back in the filter */

    r->limit_rate = rate;
    r->limit_rate_after = limit + c->sent
                          - (off_t) rate * (ngx_time() - r->start_sec + 1);
}


static off_t
ngx_http_weir_pace_allowed(ngx_http_request_t *r, size_t rate, size_t after)
{
    return (off_t) rate * (ngx_time() - r->start_sec + 1)
           - (r->connection->sent - (off_t) after);
}
