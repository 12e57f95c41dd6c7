# SPDX-License-Identifier: GPL-2.0
MAKEFLAGS += --no-builtin-rules

modules:
	$(MAKE) -f kmod/Makefile

.PHONY: modules
