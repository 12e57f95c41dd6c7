#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks of the code that runs in user space. Needs a build before it,
# for the headers that are generated.
#
# timeout: 900
cd "$(dirname "$0")/../.." || exit 2
. selftests/ktap.sh

sources=$(ls lib/*.c tools/*/*.c selftests/*/*.c)
includes="-Iinclude -Iinclude/uapi -Ilib -isystem build/gen -Itools/common
	-Iselftests -Iselftests/lib"

# What it says about generated headers is not ours to mend. Tests are analyzed
# less deeply than what ships: they took a quarter of the time.
shallow="--extra-arg=-Xclang --extra-arg=-analyzer-config
	--extra-arg=-Xclang --extra-arg=mode=shallow"

tidy() {
	local output
	command -v clang-tidy || return 1
	output=$(echo "$sources" | xargs -P "$(nproc)" -I{} sh -c '
		file=$1
		depth=$2
		shift 2
		[ "${file#selftests/}" != "$file" ] || depth=
		clang-tidy --quiet "$file" $depth -- -std=gnu11 -D_GNU_SOURCE \
			-DLACE_VERSION="\"\"" "$@" 2>/dev/null' \
		tidy {} "$shallow" $includes $(pkg-config --cflags libnl-3.0))
	! echo "$output" | grep -A12 ': \(error\|warning\):' |
		grep -v '^build/gen/' | grep -A12 ': \(error\|warning\):'
}

# Values that only a loop sets are beyond cppcheck (uninitvar); the compilers
# and the analyzer look for those.
cpp() {
	echo "$sources" | cppcheck -q -j "$(nproc)" --file-list=- \
		--enable=warning,portability --std=c11 --inline-suppr \
		--suppress=uninitvar --error-exitcode=1 \
		--include=selftests/lint/cppcheck.h \
		-Iinclude -Iinclude/uapi -Ilib -Itools/common
}

# Other programs link with liblace; what it defines must not clash with theirs.
exported() {
	local output
	output=$(nm -D --defined-only build/lib/liblace.so.*) || return 1
	! echo "$output" | awk '$2 != "A" && $3 !~ /^lace_/ { print $3; bad = 1 }
			END { exit !bad }'
}

ktap_plan 3
ktap_check "clang-tidy finds nothing" tidy
ktap_check "cppcheck finds nothing" cpp
ktap_check "liblace.so exports lace_* only" exported
ktap_end
