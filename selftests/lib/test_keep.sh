#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# --keep-lanes as users of lacec see it: off unless asked for, a plan that says
# which model it is of and is checked against that one.
. "$(dirname "$0")/../ktap.sh"
. "$(dirname "$0")/lacec.sh"

# answers_no TEXT COMMAND...: it exits with 1, one line that has TEXT
answers_no() {
	says_line 1 "$@"
}

job=$work/job.json
cluster=$work/cluster.json
lacec generate llama3.1-8b --servers 8 --pp 4 --microbatches 4 -o "$job"
lacec cluster --servers 8 --ports 4 --rate 400G --reconfig 5ms -o "$cluster"
files="-c $cluster -s $job"

ktap_plan 18

ktap_check "compile" lacec compile $files -o "$work/stop.json"
ktap_check "says nothing of transitions" sh -c \
	"jq -e 'has(\"transition\") | not' '$work/stop.json'"
ktap_check "compile --keep-lanes" lacec compile $files --keep-lanes \
	-o "$work/keep.json" --certificate "$work/keep.cert"
ktap_check "says which model it is of" jq -e '.transition == "keep-lanes"' \
	"$work/keep.json"
ktap_check "and passes its check" lacec check $files --keep-lanes \
	"$work/keep.json"
ktap_check "with a proof of its bound" lacec check $files \
	--certificate "$work/keep.cert" "$work/keep.json"
ktap_check "it takes less time" jq -e --slurpfile stop "$work/stop.json" \
	'.cct_s < $stop[0].cct_s and .bound_s <= .cct_s and
	 .reconfig_s < $stop[0].reconfig_s and
	 (.cct_s - .transmit_s - .reconfig_s | fabs) < 1e-12' "$work/keep.json"
ktap_check "it has to be one if that is asked for" answers_no \
	'transition is not "keep-lanes"' \
	lacec check $files --keep-lanes "$work/stop.json"
jq '.reconfig_s *= 1.01' "$work/keep.json" >"$work/bad.json"
ktap_check "its numbers are checked" answers_no \
	"reconfig_s is" lacec check $files "$work/bad.json"
jq 'del(.transition)' "$work/keep.json" >"$work/bad.json"
ktap_check "those of the other model are wrong" answers_no "reconfig_s is" \
	lacec check $files "$work/bad.json"
ktap_check "compile --json says it, too" sh -c \
	"lacec compile $files --keep-lanes --json | jq -e '.transition == \"keep-lanes\"'"
ktap_check "show says it" sh -c \
	"lacec show '$work/keep.json' | head -n 1 | grep -q '^lace, lanes kept: '"
ktap_check "recompile keeps to it" lacec recompile $files --failed 1/1 \
	--cluster-out "$work/left.json" -o "$work/new.json" "$work/keep.json"
ktap_check "in what passes its check" lacec check -c "$work/left.json" \
	-s "$job" --keep-lanes "$work/new.json"
lacec compare $files >"$work/stop.txt"
ktap_check "compare --keep-lanes" sh -c \
	"lacec compare $files --keep-lanes >'$work/keep.txt'"
ktap_check "has the same schedulers" sh -c \
	"cut -c 1-20 '$work/stop.txt' >'$work/names'
	 cut -c 1-20 '$work/keep.txt' | cmp - '$work/names'"
ktap_check "none of which takes longer" sh -c \
	"paste '$work/stop.txt' '$work/keep.txt' |
	 awk 'NR > 1 && \$2 != \"no\" && \$8 > \$2 { print; bad = 1 } END { exit bad }'"
ktap_check "one without transitions takes as long" sh -c \
	"grep '^symmetric-oneshot' '$work/stop.txt' >'$work/a'
	 grep '^symmetric-oneshot' '$work/keep.txt' | cut -c 1-57 >'$work/b'
	 cut -c 1-57 '$work/a' | cmp - '$work/b'"
ktap_end
