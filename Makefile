# SPDX-License-Identifier: GPL-2.0
#
# `make help' lists the targets. Everything built goes to build/; what is built
# follows from which files are there, so a new file needs no change here:
#
#	lib/*.c, lib/*.proto		build/lib/liblace.a, liblace.so
#	ebpf/NAME.bpf.c			build/ebpf/NAME.bpf.o, build/gen/NAME.skel.h
#	tools/NAME/*.c			build/tools/NAME, with tools/common/*.c
#	selftests/lib/test_NAME.c	build/selftests/test_NAME
#	selftests/{net,bench}/NAME.c	build/selftests/{net,bench}/NAME
#	selftests/fuzz/fuzz_NAME.c	build/fuzz/selftests/fuzz_NAME
#	kmod/				build/kmod/KERNEL/lace.ko

VERSION := 0.1.0

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# Variables a user may set.
CC := gcc
CLANG := clang
AR := ar
PKG_CONFIG := pkg-config
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PROTOC_C := protoc-c
PYTHON := /usr/bin/python3
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
V ?= 0
# 1: with address and undefined behaviour sanitizers; fuzz: for libFuzzer too.
SAN ?=

ifeq ($(SAN),)
B ?= build
else ifeq ($(SAN),1)
B := build/san
san_flags := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
else ifeq ($(SAN),fuzz)
B := build/fuzz
CC := $(CLANG)
san_flags := -fsanitize=address,undefined,fuzzer-no-link \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
else
$(error SAN=$(SAN): 1 and fuzz are known)
endif

# Generated sources are the same for every kind of build.
G := build/gen

packages := jansson nettle libnl-3.0 libnl-genl-3.0 libnl-route-3.0 libbpf \
	libprotobuf-c zlib expat
# Asked for once, and only by a build that needs it.
pkg_cflags = $(eval pkg_cflags := $(shell $(PKG_CONFIG) --cflags $(packages)))$(pkg_cflags)
pkg_libs = $(eval pkg_libs := $(shell $(PKG_CONFIG) --libs $(packages)))$(pkg_libs)

warnings := -Wall -Wextra -Werror
includes = -Iinclude -Iinclude/uapi -Ilib -I$(G)
# A plan has the same bytes on every machine, one with fused multiply-add too.
arithmetic := -ffp-contract=off
all_cflags = -std=gnu11 $(warnings) -D_GNU_SOURCE -DLACE_VERSION='"$(VERSION)"' \
	$(includes) $(pkg_cflags) $(san_flags) $(CFLAGS) $(arithmetic)
all_ldflags = $(san_flags) -Wl,--as-needed $(LDFLAGS)
all_libs = $(pkg_libs) -lm -lpthread

ifeq ($(V),0)
Q := @
# Not with make -s.
say = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@,$(say_it))
say_it = @printf '  %-7s %s\n' '$(1)' '$@';
else
Q :=
say =
endif

# $(call object,EXTRA FLAGS): the recipe for an object file from its source.
define object
	$(call say,CC)mkdir -p $(@D) && \
	$(CC) $(all_cflags) $(1) -MMD -MP -c -o $@ $<
endef

# $(call program,EXTRA): the recipe for a program from its prerequisites.
define program
	$(call say,LD)mkdir -p $(@D) && \
	$(CC) $(all_ldflags) -o $@ $(filter %.o %.a,$^) $(1) $(all_libs)
endef

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))

include ebpf/Makefile
include lib/Makefile
include tools/Makefile
include selftests/Makefile

# Kernels to build the module for: those of the virtual machines, else that of
# this machine if its headers are here.
KDIRS := $(wildcard build/vm/*/headers)
ifeq ($(KDIRS),)
KDIRS := $(wildcard /lib/modules/$(shell uname -r)/build)
endif

all: lib ebpf tools tests kmods

# $(call kmod,KDIR): a target that builds the module for those headers.
define kmod
kmods: kmod-$(subst /,-,$(1))
kmod-$(subst /,-,$(1)):
	+$$(Q)$$(MAKE) -s -f kmod/Makefile KDIR=$(1)
.PHONY: kmod-$(subst /,-,$(1))
endef
$(if $(wildcard kmod/Kbuild),$(foreach dir,$(KDIRS),$(eval $(call kmod,$(dir)))))

modules:
	+$(Q)$(MAKE) -f kmod/Makefile $(if $(KDIR),KDIR=$(KDIR))

setup:
	$(Q)selftests/setup/packages
	$(Q)selftests/setup/qemu
	$(Q)selftests/setup/kernels 6.1 6.12

# What follows needs a machine that is set up, so it starts make once more.
jobs := $(shell nproc)

check: setup
	$(Q)selftests/run --build $(TESTS)

demo: setup
	+$(Q)$(MAKE) -j$(jobs) all
	$(Q)selftests/demo/run

bench: setup
	+$(Q)$(MAKE) -j$(jobs) all
	$(Q)for bench in $(wildcard selftests/bench/*); do \
		[ ! -f $$bench ] || [ ! -x $$bench ] || { \
			echo "# $$bench" && $$bench; } || exit 1; \
	done

table: lib tools
	$(Q)selftests/bench/table --rst

lint:
	$(Q)selftests/run --only lint

fuzz:
	+$(Q)$(MAKE) SAN=fuzz fuzzers

install: lib tools
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib \
		$(DESTDIR)$(PREFIX)/include/lace
	$(if $(tool_programs),install $(tool_programs) $(DESTDIR)$(PREFIX)/bin)
	install -m 644 $(liblace_a) $(DESTDIR)$(PREFIX)/lib
	install $(liblace_so) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(notdir $(liblace_so)) $(DESTDIR)$(PREFIX)/lib/liblace.so
	install -m 644 lib/lace.h $(DESTDIR)$(PREFIX)/include/lace
	$(foreach page,$(wildcard Documentation/man/*.[1-8]), \
		install -D -m 644 $(page) \
		$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page)) &&) :

modules_install:
	+$(Q)$(MAKE) -f kmod/Makefile $(if $(KDIR),KDIR=$(KDIR)) install

clean:
	rm -rf build

help:
	@echo 'make                    library, tools, BPF programs, tests, modules'
	@echo 'make lib|tools|ebpf|tests'
	@echo 'make modules KDIR=DIR   lace.ko for the kernel headers in DIR'
	@echo 'make check              set up, build, run all tests (TESTS=PATTERN: some)'
	@echo 'make demo               set up, build, show what LACE does'
	@echo 'make bench              set up, build, run the benchmarks'
	@echo 'make table              lace against symmetric, LLaMA-3.1 on 32 to 512 servers'
	@echo 'make lint               the static checks only'
	@echo 'make fuzz               build the fuzzers (build/fuzz/selftests/fuzz_*)'
	@echo 'make setup              install packages, fetch kernels for virtual machines'
	@echo 'make install            DESTDIR=, PREFIX=$(PREFIX)'
	@echo 'make modules_install    lace.ko for the running kernel, or KDIR=DIR'
	@echo 'make clean'
	@echo 'SAN=1                   build with sanitizers, into build/san'
	@echo 'CC=clang B=build/clang  build with clang, into a directory of its own'
	@echo 'V=1                     show commands'

FORCE:
.PHONY: all lib ebpf tools tests kmods modules setup check demo bench table lint fuzz \
	fuzzers install modules_install clean help FORCE
