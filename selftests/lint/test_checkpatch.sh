#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rules of the kernel's own checkers, checkpatch --strict and kernel-doc. They come
# with the source that the debug kernel is built from.
#
#	test_checkpatch.sh [--all]
#
# checkpatch reads the kernel's code, and with --all, which takes minutes, all.
#
# kernels: debug
# timeout: 600
cd "$(dirname "$0")/../.." || exit 2
. selftests/ktap.sh

scripts=$(selftests/setup/debug-kernel --where)/headers/scripts
kernel=$(ls kmod/*.[ch] ebpf/*.[ch] include/uapi/linux/*.h)
user=$(ls lib/*.[ch] tools/*/*.[ch] selftests/*/*.[ch])

# What clang-format decides (.clang-format), checkpatch does not.
ignored=PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
# Lists that are macros (tracepoints, drop reasons) and loops that are: neither
# can be in parentheses, and arguments are used again.
ignored+=,COMPLEX_MACRO,MACRO_ARG_REUSE,TRAILING_SEMICOLON,BRACKET_SPACE
ignored+=,ASSIGN_IN_IF,MACRO_WITH_FLOW_CONTROL
# Not what it says: constants compared with constants; (a == b) != (c == d);
# messages with words that functions are called, too; shifts that are numbers of
# things and not bits; callbacks among the arguments.
ignored+=,CONSTANT_COMPARISON,UNNECESSARY_PARENTHESES
ignored+=,EMBEDDED_FUNCTION_NAME,BIT_MACRO,OPEN_BRACE,LEADING_SPACE
# BPF programs: what the loader sets, and iterators with types of their own.
ignored+=,VOLATILE,NEW_TYPEDEFS
# In user space also what the kernel has macros and types of its own for, and
# names that libraries have. Long texts are for people to read on a terminal, or
# data. It takes 1e-9 for a difference, and variables for words.
user_ignored=$ignored,PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO
user_ignored+=,ARRAY_SIZE,CAMELCASE,AVOID_EXTERNS,SPLIT_STRING
user_ignored+=,MULTIPLE_ASSIGNMENTS,STATIC_CONST_CHAR_ARRAY,LONG_LINE
user_ignored+=,MISSING_SPACE,QUOTED_WHITESPACE_BEFORE_NEWLINE,SPACING
user_ignored+=,REPEATED_WORD

# $1: types that are ignored; files on standard input
checkpatch() {
	local output
	output=$(xargs -n 16 -P "$(nproc)" perl "$scripts/checkpatch.pl" \
		--strict --no-tree --terse --show-types --no-summary \
		--ignore "$1" -f) && [ -z "$output" ] ||
		{ echo "$output"; return 1; }
}

in_kernel() {
	[ -s "$scripts/checkpatch.pl" ] || {
		echo "no checkpatch.pl: run selftests/setup/debug-kernel"
		return 1
	}
	echo "$kernel" | checkpatch "$ignored"
}

in_user_space() {
	echo "$user" | checkpatch "$user_ignored"
}

comments() {
	echo "$kernel $user" | xargs perl "$scripts/kernel-doc" -none -Werror
}

# Where it keeps names of the kernel's that have capitals.
trap 'rm -f .checkpatch-camelcase.*' EXIT

case ${1-} in
"") ktap_plan 2 ;;
--all) ktap_plan 3 ;;
*)
	echo "usage: test_checkpatch.sh [--all]" >&2
	exit 2
	;;
esac
ktap_check "checkpatch finds nothing in the kernel's code" in_kernel
ktap_check "kernel-doc finds nothing" comments
[ $# = 0 ] || ktap_check "checkpatch finds nothing in user space" in_user_space
ktap_end
