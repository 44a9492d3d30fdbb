/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cached: `instead: cached`. A request over the limit may have a stored answer, fresh or stale, and nothing that would ask the
 * backend.
 *
 * nginx looks into its cache before it asks an upstream for a peer. So the request goes on as if it had passed; where a peer would be
 * chosen, it gets none (without a word: no log is flooded), and nginx sends what it has stored, however old, or gives up; then the
 * header filter puts the refusal in place of what nginx says about that (filter.c). Nothing is stored of it. A backend that is named
 * by a variable has no peers to choose from (nginx resolves it itself): there it is asked all the same, and the client refused.
 */
#include "doors/nginx/gate.h"


static ngx_int_t ngx_http_weir_cached_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us);
static ngx_int_t ngx_http_weir_cached_no_peer(ngx_peer_connection_t *pc,
    void *data);
static void ngx_http_weir_cached_free_peer(ngx_peer_connection_t *pc,
    void *data, ngx_uint_t state);


/* After the upstreams have made what they choose by, in init_main_conf. */

ngx_int_t
ngx_http_weir_cached_init(ngx_conf_t *cf)
{
    ngx_uint_t                       i;
    ngx_http_weir_main_conf_t       *mcf;
    ngx_http_upstream_srv_conf_t   **uscfp;
    ngx_http_upstream_main_conf_t   *umcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);
    umcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);

    uscfp = umcf->upstreams.elts;

    mcf->peer_inits = ngx_pcalloc(cf->pool, (umcf->upstreams.nelts + 1)
                                            * sizeof(ngx_http_weir_peer_init_t));
    if (mcf->peer_inits == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < umcf->upstreams.nelts; i++) {

        if (uscfp[i]->peer.init == NULL) {
            continue;
        }

        mcf->peer_inits[i].upstream = uscfp[i];
        mcf->peer_inits[i].init = uscfp[i]->peer.init;
        uscfp[i]->peer.init = ngx_http_weir_cached_peer_init;
    }

    mcf->peer_init_count = umcf->upstreams.nelts;

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_cached_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us)
{
    ngx_uint_t                  i;
    ngx_http_upstream_t        *u;
    ngx_http_weir_visit_t      *visit;
    ngx_http_weir_main_conf_t  *mcf;

    visit = ngx_http_weir_visit_find(r->main);

    if (visit && visit->stale) {
        u = r->upstream;

        u->peer.get = ngx_http_weir_cached_no_peer;
        u->peer.free = ngx_http_weir_cached_free_peer;
        u->peer.data = NULL;
        u->peer.tries = 0;
#if (NGX_HTTP_CACHE)
        u->cacheable = 0;    /* not that there was no answer */

        if (r->cache) {
            r->cache->stale_error = 1;    /* whatever use_stale says */
        }
#endif

        return NGX_OK;
    }

    mcf = ngx_http_get_module_main_conf(r, ngx_http_weir_gate_module);

    for (i = 0; i < mcf->peer_init_count; i++) {
        if (mcf->peer_inits[i].upstream == us) {
            return mcf->peer_inits[i].init(r, us);
        }
    }

    return NGX_ERROR;
}


/* NGX_DECLINED: the next one, and there is none; unlike NGX_BUSY it writes nothing into the error log. */

static ngx_int_t
ngx_http_weir_cached_no_peer(ngx_peer_connection_t *pc, void *data)
{
    return NGX_DECLINED;
}


static void
ngx_http_weir_cached_free_peer(ngx_peer_connection_t *pc, void *data,
    ngx_uint_t state)
{
    pc->tries = 0;
}


/* Is the answer that is about to be sent one that nginx had stored? */

ngx_uint_t
ngx_http_weir_cached_answer(ngx_http_request_t *r)
{
#if (NGX_HTTP_CACHE)
    if (r->upstream) {
        switch (r->upstream->cache_status) {

        case NGX_HTTP_CACHE_HIT:
        case NGX_HTTP_CACHE_STALE:
        case NGX_HTTP_CACHE_UPDATING:
            return 1;
        }
    }
#endif

    return 0;
}
