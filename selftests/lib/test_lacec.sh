#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lacec as its users see it: results, the one line that is said when something
# is wrong, exit statuses, and that a file is written whole or not at all.
. "$(dirname "$0")/../ktap.sh"
. "$(dirname "$0")/lacec.sh"

example=Documentation/examples/testbed3
cluster=$example/cluster.json
schedule=$example/schedule.json

# says LINE COMMAND...: it exits with 2, prints that line only, no result
says() {
	line=$1
	shift
	status 2 "$@" || return
	[ "$(cat "$work/err")" = "$line" ] && [ ! -s "$work/out" ] && return
	cat "$work/err"
	return 1
}

# answers_no PATTERN COMMAND...: it exits with 1, one line that matches
answers_no() {
	matches_line 1 "$@"
}

# number FILE KEY VALUE: to six digits
number() {
	jq -e --argjson should "$3" ".$2 / \$should - 1 | fabs < 1e-6" \
		"$1" >/dev/null && return
	jq "{$2}" "$1"
	return 1
}

# edit EXPRESSION FILE: a copy of a JSON file with something changed
edit() {
	jq "$1" "$2" >"$work/edited.json"
}

ktap_plan 89

# ---- plans ----

compile="lacec compile -c $cluster -s $schedule"
ktap_check "compile writes a plan" $compile -o "$work/lace.json"
ktap_check "which passes its check" \
	lacec check -c $cluster -s $schedule "$work/lace.json"
ktap_check "in 14.967691 s" number "$work/lace.json" cct_s 14.967691144069
ktap_check "compile prints a plan" status 0 $compile
ktap_check "the same one" cmp "$work/out" "$work/lace.json"
ktap_check "compile --scheduler symmetric" \
	$compile --scheduler symmetric -o "$work/symmetric.json"
ktap_check "which passes its check" \
	lacec check -c $cluster -s $schedule "$work/symmetric.json"
ktap_check "in 26.742222 s" \
	number "$work/symmetric.json" cct_s 26.742221701120
ktap_check "compile --alternates" $compile --scheduler symmetric \
	--alternates 2 -o "$work/alternates.json"
ktap_check "which passes its check" \
	lacec check -c $cluster -s $schedule "$work/alternates.json"
ktap_check "each pair of three nodes has the third one's way" jq -e \
	'.segments[0].alternates | sort ==
	 [[0,1,[2]],[0,2,[1]],[1,0,[2]],[1,2,[0]],[2,0,[1]],[2,1,[0]]]' \
	"$work/alternates.json"
ktap_check "and costs nothing" \
	number "$work/alternates.json" cct_s 26.742221701120
edit '.segments[0].alternates += [[0,1,[2]]]' "$work/alternates.json"
ktap_check "two ways that share a node are none" answers_no 'shares a node' \
	lacec check -c $cluster -s $schedule "$work/edited.json"
ktap_check "compile --json prints a summary" status 0 $compile --json
cp "$work/out" "$work/summary.json"
ktap_check "with the fields of a plan" same "$(jq -c keys "$work/summary.json")" \
	"$(echo bound_s cct_s cluster_sha256 compile_s format peak_rss_bytes \
		reconfig_s schedule_sha256 scheduler segment_count transmit_s |
	   jq -cR 'split(" ")')"
ktap_check "and its numbers" jq -e --slurpfile plan "$work/lace.json" \
	'.cct_s == $plan[0].cct_s and .bound_s == $plan[0].bound_s and
	 .segment_count == ($plan[0].segments | length) and .compile_s > 0 and
	 .peak_rss_bytes > 1000000' "$work/summary.json"
ktap_check "compile --json -o does both" \
	sh -c "$compile --json -o '$work/both.json' | jq -e .cct_s &&
	       cmp '$work/both.json' '$work/lace.json'"
ktap_check "the hash is that of the file" same \
	"$(jq -r .cluster_sha256 "$work/lace.json")" \
	"$(sha256sum $cluster | cut -d ' ' -f 1)"

# ---- check finds what is wrong ----

check="lacec check -c $cluster -s $schedule"
edit '.cct_s += 0.001' "$work/lace.json"
ktap_check "another cct_s" \
	answers_no "edited.json: cct_s is 14.9686911, should be 14.9676911" \
	$check "$work/edited.json"
edit '.segments[0].routes = []' "$work/lace.json"
ktap_check "no routes" answers_no "neither circuit nor route" \
	$check "$work/edited.json"
edit '.segments[0].last_op -= 1' "$work/lace.json"
ktap_check "an op left out" answers_no "ops from 47 on are in no segment" \
	$check "$work/edited.json"
ktap_check "another cluster" answers_no "cluster_sha256 is" \
	lacec check -c $example/cluster-fast.json -s $schedule \
	"$work/lace.json"
ktap_check "a plan that is none" says \
	"lacec: $cluster:2: format: has to be \"lace-plan/1\", is \"lace-cluster/1\"" \
	$check $cluster

# ---- show, compare, matrix ----

ktap_check "show names circuits and routes" sh -c \
	"lacec show '$work/lace.json' | grep -c -- '  + \|  route ' | grep -qx 9"
ktap_check "compare" status 0 \
	lacec compare -c $example/cluster-fast.json -s $schedule
ktap_check "has a row for every scheduler" same \
	"$(sed 1d "$work/out" | awk '{ print $1 }')" \
	"$(lacec compile --help | sed '1,/^NAME/d' | awk '{ print $1 }')"
ktap_check "lace first, in 13.904595 s" grep -q \
	'^lace  *13.904595  *13.424595  *0.480000  *25  *1.0000$' "$work/out"
ktap_check "symmetric 1.9233 times as long" grep -q \
	'^symmetric  *26.742222  *26.742222  *0.000000  *1  *1.9233$' \
	"$work/out"
ktap_check "matrix of all ops" same "$(lacec matrix $schedule)" \
	"0 295623065600 38654705664
38654705664 0 295623065600
295623065600 38654705664 0"
ktap_check "matrix of one op, all its rounds" same \
	"$(lacec matrix --op 1 $schedule)" \
	"0 0 3221225472
3221225472 0 0
0 3221225472 0"
ktap_check "fractions have up to six decimals" same \
	"$(lacec matrix $schedule --op 2)" \
	"0 10707014997.333332 0
0 0 10707014997.333332
10707014997.333332 0 0"
ktap_check "matrix of an op that is not there" says \
	"lacec: there is no op 48: $schedule has 48" \
	lacec matrix $schedule --op 48

# ---- made input ----

ktap_check "generate" lacec generate llama3.1-8b --servers 8 --pp 2 \
	--microbatches 4 -o "$work/model.json"
for wiring in single planes; do
	ktap_check "cluster, $wiring" lacec cluster --servers 8 --ports 4 \
		--rate 400G --wiring $wiring --reconfig 5ms \
		-o "$work/$wiring.json"
	ktap_check "compile for it" lacec compile -c "$work/$wiring.json" \
		-s "$work/model.json" -o "$work/plan.json"
	ktap_check "and check" lacec check -c "$work/$wiring.json" \
		-s "$work/model.json" "$work/plan.json"
done
ktap_check "units" same \
	"$(jq -c '[.reconfig_s, .control_ratio, .nodes[7].ports[3]]' \
	   "$work/planes.json")" \
	'[0.005,0.01,{"name":"lane3","rate_bps":400000000000,"tx":["ocs3",8],"rx":["ocs3",8]}]'
edit '.ops = []' $schedule
ktap_check "a schedule without ops" sh -c \
	"lacec compile -c $cluster -s '$work/edited.json' -o '$work/plan.json' &&
	 lacec check -c $cluster -s '$work/edited.json' '$work/plan.json' &&
	 jq -e '.segments == [] and .cct_s == 0' '$work/plan.json'"

# ---- no plan ----

lacec cluster --servers 3 --ports 1 --rate 1G --relay none -o "$work/thin.json"
ktap_check "more peers than lanes: no, and why" answers_no "^lacec: " \
	lacec compile -c "$work/thin.json" -s $schedule
ktap_check "compare shows why" answers_no "" \
	sh -c "lacec compare -c '$work/thin.json' -s $schedule >'$work/table'; s=\$?;
	       grep -q '^lace  *no plan: ' '$work/table' && echo no plan >&2; exit \$s"

# ---- bad input ----

ktap_check "no such file" says \
	"lacec: no/such.json: No such file or directory" \
	lacec matrix no/such.json
ktap_check "a folder" says "lacec: $work: Is a directory" lacec matrix "$work"
: >"$work/empty.json"
ktap_check "an empty file" says "lacec: $work/empty.json:1: the file is empty" \
	lacec matrix "$work/empty.json"
head -c 1000 $schedule >"$work/cut.json"
ktap_check "a file cut short" status 2 lacec matrix "$work/cut.json"
ktap_check "is told with its last line" grep -q \
	"^lacec: $work/cut.json:$(grep -c '' "$work/cut.json"): " "$work/err"
edit '.placement[8] = 3' $schedule
at="lacec: $work/edited.json"
ktap_check "placement out of range" says \
	"$at:5: placement[8]: the cluster has no node 3: it has 3" \
	lacec compile -c $cluster -s "$work/edited.json"
edit '.nodes[2].ports[1].tx[1] = 9' $cluster
ktap_check "an OCS input that does not exist" says \
	"$at:96: nodes[2].ports[1].tx[1]: OCS \"ocs0\" has no input 9: they are 1 to 8" \
	lacec compile -c "$work/edited.json" -s $schedule
edit '.nodes[2].ports[1].tx[1] = 1' $cluster
ktap_check "two ports on one input" says \
	"$at:94: nodes[2].ports[1].tx: input 1 of OCS \"ocs0\" is taken by gpu0 lane0" \
	lacec compile -c "$work/edited.json" -s $schedule
for args in "" "bogus" "compile" "compile -c" "compile -c $cluster" \
	"compile --bogus" "compile -c $cluster -s $schedule extra" \
	"compile -c $cluster -s $schedule --scheduler bogus" \
	"check -c $cluster -s $schedule" \
	"generate llama9 --servers 8" "generate llama3.1-8b --servers 0" \
	"cluster --servers 8 --ports 4 --rate -1" "import"; do
	ktap_check "usage: lacec $args" status 2 lacec $args
done

ktap_check "a hexadecimal number" says_line 2 "is no rate" \
	lacec cluster --servers 8 --ports 4 --rate 0x10G
ktap_check "a file of no name" says_line 2 'lacec: "": ' \
	lacec check -c $cluster -s $schedule ""

# ---- output ----

cp $cluster "$work/c.json"
cp $schedule "$work/s.json"
ln -s s.json "$work/s-link.json"
for args in "compile -c $work/c.json -s $work/s.json -o $work/c.json" \
	"compile -c $work/c.json -s $work/s.json -o $work/s-link.json" \
	"compile -c $work/c.json -s $work/s.json -o $work/p --certificate $work/s.json" \
	"recompile -c $work/c.json -s $work/s.json --failed 0/0 p -o $work/c.json" \
	"recompile -c $work/c.json -s $work/s.json --failed 0/0 p --cluster-out $work/c.json" \
	"sweep -c $work/c.json -s $work/s.json --csv $work/c.json" \
	"import --format goal $work/s.json -o $work/s.json"; do
	ktap_check "an input is not written over: ${args%% *}" says_line 2 \
		"would be written over" lacec $args
done
ktap_check "and is as before" sh -c \
	"cmp $cluster $work/c.json && cmp $schedule $work/s.json"

ktap_check "a full disk" says "lacec: /dev/full: cannot write: No space left on device" \
	$compile -o /dev/full
ktap_check "a full standard output" sh -c "! $compile >/dev/full"
ktap_check "a closed pipe" sh -c \
	"{ $compile --json; echo \$? >'$work/status'; } | true
	 grep -qx 2 '$work/status'"
echo old >"$work/old.json"
chmod 640 "$work/old.json"
ln -s old.json "$work/link.json"
ktap_check "a failure leaves the old file alone" sh -c \
	"! lacec compile -c '$work/thin.json' -s $schedule -o '$work/old.json' \
	   2>/dev/null && grep -qx old '$work/old.json'"
ktap_check "through a link, with the mode it had" sh -c \
	"$compile -o '$work/link.json' && [ -L '$work/link.json' ] &&
	 cmp '$work/old.json' '$work/lace.json' &&
	 [ \"\$(stat -c %a '$work/old.json')\" = 640 ]"
ktap_check "a folder that is not there" status 2 \
	$compile -o "$work/no/plan.json"
ktap_check "nothing is left behind" same \
	"$(find "$work" -name '*.json.*')" ""
for command in generate cluster import matrix compile check compare show; do
	ktap_check "$command --help" sh -c \
		"lacec $command --help | grep -q '^usage: lacec $command '"
done
ktap_end
