# weir: one Makefile, no recursion but for the sanitizer builds. `make help` lists the targets.
# Variables: BUILD=release|asan|tsan|fuzz  CC  CFLAGS  LDFLAGS  DESTDIR  PREFIX  V=1  SECONDS=<for long runs>  PORT=<make run>

BUILD   ?= release
B       := build/$(BUILD)
PREFIX  ?= /usr/local
DESTDIR ?=
SECONDS ?= 300
CC      := $(if $(filter fuzz,$(BUILD)),clang,$(if $(filter default,$(origin CC)),gcc,$(CC)))
Q       := $(if $(V),,@)

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Werror
SAN_release :=
SAN_asan    := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_tsan    := -fsanitize=thread
SAN_fuzz    := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
CFLAGS  ?= -O2 -g
MCX16   := $(if $(filter x86_64,$(shell uname -m)),-mcx16)
WFLAGS  := -std=gnu11 -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. $(MCX16) $(WARN) $(SAN_$(BUILD))
LIBS    := -lfyaml -ljansson -lutf8proc -lcrypto -lpthread

# The layers, in the order a request meets them; each may include only what stands left of it (tests/house/layers.t).
LAYERS  := algo table policy identity flow
LIB_SRC := $(foreach layer,$(LAYERS),$(sort $(wildcard $(layer)/*.c)))
CLI_SRC := $(sort $(wildcard cli/*.c)) $(sort $(wildcard control/*.c))
LIB     := $(B)/libweir.a
WEIR    := $(B)/weir
MODULE  := $(B)/ngx_http_weir_module.so

UNIT_SRC  := $(sort $(wildcard tests/algo/*.c tests/table/*.c tests/policy/*.c tests/identity/*.c tests/flow/*.c tests/cli/*.c))
UNIT      := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
HELPERS   := $(B)/tests/lib/zone_table $(B)/tests/lib/ring_look $(B)/tests/lib/usage_charge
CHECKS    := $(filter-out $(B)/tests/table/torture%,$(UNIT))
RACES     := $(filter $(B)/tests/table/race_% $(B)/tests/identity/race_%,$(UNIT))
FUZZERS   := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(sort $(wildcard fuzz/*.c)))
BENCHES   := $(patsubst bench/%.c,$(B)/bench/%,$(sort $(wildcard bench/*.c)))
SYSTEM_T  := $(sort $(wildcard tests/house/*.t tests/cli/*.t tests/doors/*.t tests/examples/*.t tests/docs/*.t))
DEPS      := $(shell find $(B) -name '*.d' 2>/dev/null)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help packages run check test sanitized lint asan tsan fuzz torture oracle soak bench install format clean docs

all: $(WEIR) $(MODULE) ## build the command and the nginx module

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-17s%s\n", $$1, $$2}'

packages: ## install the system packages named in packages.txt that are missing
	@scripts/packages

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(WFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_SRC:%.c=$(B)/%.o)
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$(WEIR): $(CLI_SRC:%.c=$(B)/%.o) $(LIB)
	@echo "  LINK  $@"
	$(Q)$(CC) $(WFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lsqlite3

NGX_SRC := $(wildcard doors/nginx/*.[ch] doors/nginx/take/*.[ch] doors/nginx/config)
$(MODULE): $(LIB) $(NGX_SRC) scripts/nginx-module
	@echo "  NGX   $@"
	$(Q)scripts/nginx-module $(B) "$(SAN_$(BUILD)) $(MCX16)"

$(B)/tests/%: $(B)/tests/%.o $(LIB)
	@echo "  LINK  $@"
	$(Q)$(CC) $(WFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

# what reads an nginx configuration is the command's, and tried without it
IMPORT  := $(filter-out $(B)/cli/import.o $(B)/cli/import_write.o,$(patsubst %.c,$(B)/%.o,$(wildcard cli/import*.c)))
$(patsubst %.c,$(B)/%,$(wildcard tests/cli/import*.c fuzz/nginx_conf.c)): LIBS := $(LIB) $(LIBS)
$(patsubst %.c,$(B)/%,$(wildcard tests/cli/import*.c fuzz/nginx_conf.c)): $(IMPORT)

$(B)/bench/%: $(B)/bench/%.o $(LIB)
	@echo "  LINK  $@"
	$(Q)$(CC) $(WFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

$(B)/fuzz/%: $(B)/fuzz/%.o $(LIB)
	@echo "  LINK  $@"
	$(Q)$(CC) $(WFLAGS) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

run: packages ## install, build and start the gateway on :8080 before a demo backend
	@$(MAKE) --no-print-directory -j2 all
	@scripts/demo $(B)

check: $(CHECKS) ## unit tests, seconds
	$(Q)prove -j2 -e '' $(CHECKS)

test: packages ## everything: unit, race, killed writers, real nginx, sanitizers
	@$(MAKE) --no-print-directory -j2 all $(UNIT) $(HELPERS)
	@scripts/test $(B)

sanitized: ## build the unit tests with each sanitizer, and the fuzz targets
	@$(MAKE) --no-print-directory -j2 BUILD=asan $(patsubst $(B)/%,build/asan/%,$(UNIT))
	@$(MAKE) --no-print-directory -j2 BUILD=tsan $(patsubst $(B)/%,build/tsan/%,$(RACES))
	@$(MAKE) --no-print-directory -j2 BUILD=fuzz $(patsubst $(B)/%,build/fuzz/%,$(FUZZERS))

asan: ## the whole suite under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory -j2 BUILD=asan all $(patsubst $(B)/%,build/asan/%,$(UNIT) $(HELPERS))
	@scripts/test build/asan

tsan: ## the race tests under ThreadSanitizer
	@$(MAKE) --no-print-directory -j2 BUILD=tsan $(patsubst $(B)/%,build/tsan/%,$(RACES))
	@prove -e '' $(patsubst $(B)/%,build/tsan/%,$(RACES))

fuzz: ## every fuzz target for SECONDS (default 300) each
	@$(MAKE) --no-print-directory -j2 BUILD=fuzz $(patsubst $(B)/%,build/fuzz/%,$(FUZZERS))
	@scripts/fuzz build/fuzz $(SECONDS)

torture: $(UNIT) ## 10,000 kill -9 at random instants (long)
	@scripts/torture $(B)

oracle: all ## nginx's limits against stock nginx in virtual time, for SECONDS
	@scripts/oracle $(B) $(SECONDS)

soak: all ## 1,000 reloads and 100 kill -9 of workers under load (long)
	@scripts/soak $(B)

bench: all $(BENCHES) ## ratios against peers and physical limits, measured in one run
	@scripts/bench $(B)

lint: ## clang-format, clang-tidy, cppcheck
	@scripts/lint

format: ## apply clang-format
	@clang-format -i $$(git ls-files '*.c' '*.h' | grep -v '^doors/nginx/')

docs: $(WEIR) ## write the pages that are generated
	@scripts/docs $(WEIR)

install: all ## copy command, module, manual pages to DESTDIR/PREFIX
	@scripts/install $(B) "$(DESTDIR)" "$(PREFIX)"

clean: ## remove what was built
	rm -rf build

-include $(DEPS)
