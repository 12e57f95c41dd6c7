#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Do scripts and manual pages parse? A mistake in a branch that seldom runs would
# show only when somebody needs it.
cd "$(dirname "$0")/../.." || exit 2
. selftests/ktap.sh

# scripts PATTERN: files of the tree whose first line matches it
scripts() {
	find .ci Documentation selftests tools lib -type f ! -name '*.c' \
		! -name '*.h' ! -name '*.gz' -print0 |
		xargs -0 awk -v pattern="$1" \
			'FNR == 1 { if ($0 ~ pattern) print FILENAME; nextfile }'
}

shell() {
	local file status=0
	for file in $(scripts '^#!/bin/sh') selftests/ktap.sh \
		selftests/lib/lacec.sh selftests/setup/lib.sh; do
		dash -n "$file" || status=1
	done
	for file in $(scripts '^#!(/usr)?/bin/(env )?bash'); do
		bash -n "$file" || status=1
	done
	return $status
}

python() {
	{ scripts '^#!/usr/bin/python3'; find selftests tools -name '*.py'; } |
		sort -u | /usr/bin/python3 -c '
import sys
for name in sys.stdin.read().split():
    with open(name, encoding="utf-8") as file:
        compile(file.read(), name, "exec")'
}

# Whichever python3 comes first on PATH may lack the packages that tests need.
debian_python() {
	! grep -rnE '^#!.*(env +python|/python[0-9.]*$)' .ci selftests tools \
		Documentation | grep -v '#!/usr/bin/python3$'
}

manual() {
	local page output status=0
	for page in Documentation/man/*.[1-8]; do
		[ -e "$page" ] || continue
		output=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings \
			-E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		[ -z "$output" ] || { echo "$page: $output"; status=1; }
	done
	return $status
}

ktap_plan 4
ktap_check "shell scripts parse" shell
ktap_check "Python programs parse" python
ktap_check "Python is Debian's" debian_python
ktap_check "manual pages have no warnings" manual
ktap_end
