/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * take: nginx's own limits, limit_req and limit_conn, served by weir's table. What the files of this folder share.
 *
 *   conf.c      the module; locations, merging    directives.c  its directives       misplaced.c  where they may not stand
 *   zones.c     limit_req_zone, limit_conn_zone   lines.c    limit_req and limit_conn
 *   words.c     parameters, what was meant        extras.c   weir_headers and others that nginx does not have
 *   compile.c   zones as the image of a realm, when all has been read               compare.c  what `nginx -t` says of them
 *   decide.c    PREACCESS: first requests, which may wait, then connections
 *   requests.c  limit_req        connections.c  limit_conn       key.c  a zone's key, its counter, its rate
 *   log.c       nginx's lines, sampled if asked   tell.c  statistics, recent refusals
 *   headers.c   rate headers, if asked            places.c  what a request holds until it ends
 *
 * This module stands before nginx's own two, so that nginx finds its directives first; theirs stay loaded, without
 * a limit. Their variables $limit_req_status and $limit_conn_status say what is written into the request here.
 */
#ifndef WEIR_DOORS_NGINX_TAKE_TAKE_H
#define WEIR_DOORS_NGINX_TAKE_TAKE_H

#include "doors/nginx/gate.h"


/* Of r->main->limit_req_status and limit_conn_status (nginx 1.17.6 and later). */
#define NGX_HTTP_WEIR_PASSED            1
#define NGX_HTTP_WEIR_DELAYED           2
#define NGX_HTTP_WEIR_REJECTED          3
#define NGX_HTTP_WEIR_DELAYED_DRY_RUN   4
#define NGX_HTTP_WEIR_REJECTED_DRY_RUN  5
#define NGX_HTTP_WEIR_CONN_PASSED            1
#define NGX_HTTP_WEIR_CONN_REJECTED          2
#define NGX_HTTP_WEIR_CONN_REJECTED_DRY_RUN  3


/* One for each limit_req_zone and limit_conn_zone: one counter for each value of its key. */
typedef struct {
    ngx_str_t                    name;
    ngx_http_complex_value_t     key;
    size_t                       size;         /* as declared, bytes; 0: it is used and not declared (yet) */
    ngx_str_t                    rate;         /* as written; of connections: empty */
    ngx_http_complex_value_t    *rate_value;   /* a variable says; NULL: count per period_ns */
    uint32_t                     count;
    uint64_t                     period_ns;
    uint32_t                     burst;        /* the largest of the lines that use it; of connections N - 1 */
    ngx_shm_zone_t              *shm;          /* nginx's, for its name alone: nothing is in it */
    u_char                      *file;         /* where it stands; until it is declared: where it is used first */
    ngx_uint_t                   line;
    uint32_t                     index;        /* of its limit and counter in the realm's image */
    unsigned                     connections:1;
    unsigned                     nginx:1;      /* counted as nginx does, to the bit */
    unsigned                     address:1;    /* the key is an address in bytes: $binary_remote_addr */
    unsigned                     used:1;       /* by a line */
    unsigned                     burst_varies:1;  /* a variable says the burst of a line */

    /* of this process: its counter in the world that decides */
    uint64_t                     serial;       /* of that world; 0: not looked up yet */
    uint64_t                     identity;
    uint32_t                     row;          /* TABLE_ROW_NONE: it is not there */
    uint32_t                     counter;      /* in that world's image */
    uint16_t                     stat;

    /* lines of the log, if they are sampled: those that refuse, those that delay; that a variable says no rate, always */
    time_t                       told_at[2];
    ngx_uint_t                   untold[2];
    ngx_uint_t                   untold_level[2];
    ngx_log_t                   *untold_log[2];
    time_t                       wrong_at;
} ngx_http_weir_zone_t;


/* One limit_req or limit_conn. */
typedef struct {
    ngx_http_weir_zone_t        *zone;
    struct algo_bound            bound;
    ngx_http_complex_value_t    *burst_value;  /* a variable says; NULL: the bound */
    ngx_uint_t                   status;       /* of its refusals; 0: the location's */
    unsigned                     nodelay:1;    /* nothing waits, whatever burst a variable says */
} ngx_http_weir_line_t;


typedef struct {
    ngx_http_weir_realm_t        realm;        /* path is the configuration file's; "" without zones that are used */
    ngx_array_t                  zones;        /* of ngx_http_weir_zone_t *, in order of their first mention */
    struct image                *image;        /* realm.image, to be freed */
    unsigned                     headers:1;    /* weir_headers stands somewhere */
} ngx_http_weir_take_main_conf_t;


typedef struct {                               /* the same for requests and for connections */
    ngx_array_t                  lines;        /* of ngx_http_weir_line_t; elts NULL: as the level above */
    ngx_uint_t                   status;
    ngx_uint_t                   log_level;
    ngx_uint_t                   delay_log_level;
    ngx_flag_t                   dry_run;
} ngx_http_weir_limits_t;


typedef struct {
    ngx_http_weir_limits_t       requests;
    ngx_http_weir_limits_t       connections;
    ngx_uint_t                   status;       /* weir_limit_status: where none is set; else 503 */
    ngx_uint_t                   headers;      /* IMAGE_HEADERS_*, and */
#define NGX_HTTP_WEIR_RETRY_AFTER  (1u << 31)
    ngx_flag_t                   sample;       /* weir_limit_log_sample */
} ngx_http_weir_take_loc_conf_t;


/* directives.c */
extern ngx_command_t  ngx_http_weir_take_commands[];

/* misplaced.c. Directives where nginx does not allow them: those of http{} alone, the others. */
char *ngx_http_weir_misplaced_http(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_weir_misplaced(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* zones.c */
/* Of what nginx would allocate in shared memory for a zone: its least size, which is declared at least and allocated at most. */
#define NGX_HTTP_WEIR_ZONE_LEAST  (8 * ngx_pagesize)
char *ngx_http_weir_limit_req_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_weir_limit_conn_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
/* That of that name, made if it has not been mentioned before. `size`: as declared; 0: it is only used. NULL: nginx has
 * said why. */
ngx_http_weir_zone_t *ngx_http_weir_zone(ngx_conf_t *cf, ngx_str_t *name, size_t size, ngx_uint_t connections);

/* lines.c */
char *ngx_http_weir_limit_req(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_weir_limit_conn(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* words.c. NGX_OK, or NGX_ERROR and it has been said why. */
ngx_int_t ngx_http_weir_complex(ngx_conf_t *cf, ngx_str_t *text, ngx_http_complex_value_t *value);
/* NGX_CONF_OK, or NGX_CONF_ERROR and it has been said why. */
char *ngx_http_weir_rate(ngx_conf_t *cf, ngx_str_t *value, ngx_http_weir_zone_t *zone);
char *ngx_http_weir_status(ngx_conf_t *cf, ngx_str_t *value, ngx_uint_t *status);
/* nginx's `invalid parameter`, and which of `known` (words with a space between them) was probably meant. */
char *ngx_http_weir_parameter(ngx_conf_t *cf, ngx_str_t *value, const char *known);

/* extras.c */
char *ngx_http_weir_take_headers_words(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_weir_limit_table(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_weir_limit_snapshot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* compile.c. When the whole of http{} has been read: unknown zones are errors, known ones become the realm's image if a
 * line uses one. */
ngx_int_t ngx_http_weir_take_compile(ngx_conf_t *cf, ngx_http_weir_take_main_conf_t *tmcf);

/* compare.c. `nginx -t`, when everything has been read: what will change for the counters of the table that is there. */
void ngx_http_weir_take_compare(ngx_cycle_t *cycle, const char *table);

/* decide.c */
ngx_int_t ngx_http_weir_take_init(ngx_conf_t *cf);

/* requests.c. NGX_DECLINED: passes, perhaps after *delay ms; else the status to refuse with. */
ngx_int_t ngx_http_weir_take_requests(ngx_http_request_t *r, ngx_http_weir_take_loc_conf_t *tlcf, ngx_msec_t *delay);
/* What a refusal by that line is answered with. */
static inline ngx_uint_t
ngx_http_weir_take_status(ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_limits_t *limits, ngx_http_weir_line_t *line)
{
    return line->status ? line->status : limits->status != NGX_CONF_UNSET_UINT ? limits->status : tlcf->status;
}

/* connections.c. NGX_DECLINED or a status. */
ngx_int_t ngx_http_weir_take_connections(ngx_http_request_t *r, ngx_http_weir_take_loc_conf_t *tlcf);

/* key.c. NGX_OK or what is said; NGX_ERROR: a variable could not be evaluated, or there is no memory.
 *
 * The value of the zone's key; NGX_DECLINED: it is empty, nothing is limited. */
ngx_int_t ngx_http_weir_zone_value(ngx_http_request_t *r, ngx_http_weir_zone_t *zone, ngx_str_t *value);
/* Its counter in that world; NGX_DECLINED: the zone has none there (a newer configuration has dropped it). */
ngx_int_t ngx_http_weir_zone_counter(ngx_http_request_t *r, ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone,
    ngx_str_t *value, struct table_key *key);
/* The line's bound for this request. NGX_DECLINED: a variable says nothing, so nothing is limited. */
ngx_int_t ngx_http_weir_line_bound(ngx_http_request_t *r, ngx_http_weir_line_t *line, struct algo_bound *bound);

/* log.c */
void ngx_http_weir_take_log_request(ngx_http_request_t *r, ngx_http_weir_take_loc_conf_t *tlcf,
    ngx_http_weir_line_t *line, uint64_t excess, ngx_uint_t delayed);
void ngx_http_weir_take_log_connection(ngx_http_request_t *r, ngx_http_weir_take_loc_conf_t *tlcf,
    ngx_http_weir_line_t *line);
void ngx_http_weir_take_log_flush(void);

/* tell.c. For `weir show`: of each line of a request that they let pass, or of the one that refused it, or that found no room. */
void ngx_http_weir_take_passed(ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone, ngx_uint_t delayed);
void ngx_http_weir_take_refused(ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone, ngx_str_t *value,
    const struct algo_time *t, ngx_uint_t dry_run);
void ngx_http_weir_take_crowded(ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone);

/* places.c. Places in flight for `n` lines, which end with the request. NULL: out of memory. */
typedef struct {
    ngx_http_weir_zone_t        *zone;
    struct table_ticket          ticket;
} ngx_http_weir_place_t;

typedef struct {
    ngx_http_weir_world_t       *world;        /* one reference */
    ngx_uint_t                   n;            /* taken */
    ngx_http_weir_place_t        place[1];
} ngx_http_weir_places_t;
ngx_http_weir_places_t *ngx_http_weir_places(ngx_http_request_t *r, ngx_http_weir_world_t *world, ngx_uint_t n);
/* All of them are free, before the request ends. */
void ngx_http_weir_places_free(ngx_http_weir_places_t *places);

/* headers.c. What a line's look says, kept for the answer; then, when the header is about to be sent, the fields. */
ngx_int_t ngx_http_weir_take_note(ngx_http_request_t *r, ngx_http_weir_take_loc_conf_t *tlcf,
    ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone, const struct table_key *key,
    const struct table_look *look, const struct algo_time *t);
/* NGX_OK: of a refusal; NGX_DECLINED: of another answer, or there are none. */
ngx_int_t ngx_http_weir_take_headers(ngx_http_request_t *r);


extern ngx_module_t  ngx_http_weir_take_module;


#endif
