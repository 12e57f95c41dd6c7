#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks of the module, for each kernel that virtual machines run.
cd "$(dirname "$0")/../.." || exit 2
. selftests/ktap.sh

kernels="6.1 6.12"

# A build of its own, from nothing, so that every warning shows.
module() {
	make -s -f kmod/Makefile KDIR="build/vm/$1/headers" vm= name="lint-$1" \
		$2 2>&1
}

quiet() {
	local output
	rm -rf "build/kmod/lint-$1"
	output=$(module "$1") || { echo "$output"; return 1; }
	! echo "$output" | grep -i 'warning\|error\|undefined'
}

sparse() {
	local output
	output=$(module "$1" C=2) || { echo "$output"; return 1; }
	! echo "$output" | grep '/kmod/.*: \(warning\|error\)'
}

# One name space for all of the kernel: globals say whose they are. Of those that
# the kernel's macros make of a tracepoint its own name counts.
symbols() {
	local output
	output=$(nm -g --defined-only "build/kmod/lint-$1/kmod/lace.o") ||
		return 1
	! echo "$output" | awk '{ print $3 }' |
		sed 's/^__\(SC[KT]__tp_func\|probestub\|traceiter\|tracepoint\)_//' |
		grep -v '^lace_\|^\(init\|cleanup\)_module$\|^__\(pfx\|kstrtab\|ksymtab\|crc\)_'
}

described() {
	local field
	for field in description license alias; do
		[ -n "$(modinfo -F $field "build/kmod/lint-$1/lace.ko")" ] || {
			echo "no $field"
			return 1
		}
	done
}

PATH=$PATH:/usr/sbin:/sbin
ktap_plan 8
for kernel in $kernels; do
	ktap_check "$kernel: compiles without a warning" quiet $kernel
	ktap_check "$kernel: sparse finds nothing" sparse $kernel
	ktap_check "$kernel: global names start with lace_" symbols $kernel
	ktap_check "$kernel: modinfo tells what it is" described $kernel
done
ktap_end
