#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lacec recompile as its users see it: the plan and the cluster that is left pass
# their check, what has changed is told, and how words are taken.
. "$(dirname "$0")/../ktap.sh"
. "$(dirname "$0")/lacec.sh"

job=$work/job.json
cluster=$work/cluster.json
lacec generate llama3.1-8b --servers 8 --pp 2 --microbatches 4 -o "$job"
lacec cluster --servers 8 --ports 4 --rate 400G --wiring planes -o "$cluster"
lacec compile -c "$cluster" -s "$job" -o "$work/plan.json"
lacec compile -c "$cluster" -s "$job" --scheduler symmetric \
	-o "$work/duplex.json"
recompile="lacec recompile -c $cluster -s $job"
left="$work/left.json"
check="lacec check -c $left -s $job"

all="--failed-ocs ocs0 --failed-ocs ocs1 --failed-ocs ocs2 --failed-ocs ocs3"

ktap_plan 28

ktap_check "a lane and a port fail" status 0 $recompile \
	--failed node1/lane2:tx 3/0 --cluster-out "$left" -o "$work/new.json" \
	"$work/plan.json"
ktap_check "what has changed is a row for each segment" sh -c \
	"grep -c '^[0-9c]' '$work/out' | grep -qx \
	 $(($(jq '.segments | length' "$work/new.json") + 1))"
ktap_check "the plan passes its check" $check "$work/new.json"
ktap_check "those lanes and no others are gone" sh -c \
	"jq -c '[.nodes[] | .name as \$n | .ports[] | select(.tx == null or .rx == null) |
	 [\$n, .name, .tx == null, .rx == null]]' '$left' |
	 grep -qx '\\[\\[\"node1\",\"lane2\",true,false\\],\\[\"node3\",\"lane0\",true,true\\]\\]'"
ktap_check "the old plan does not pass" status 1 $check "$work/plan.json"
ktap_check "the plan comes first" status 0 $recompile "$work/plan.json" \
	--failed node1/lane2:tx 3/0 -o "$work/first.json"
ktap_check "which is the same" cmp "$work/new.json" "$work/first.json"
ktap_check "one option for each lane" status 0 $recompile \
	--failed node1/lane2:tx "$work/plan.json" --failed 3/0
ktap_check "prints the same plan" cmp "$work/new.json" "$work/out"
ktap_check "--json" status 0 $recompile --failed 3/0 node1/lane2:tx \
	"$work/plan.json" --json
ktap_check "tells the plan's numbers and the sums of its changes" \
	jq -e --slurpfile plan "$work/new.json" \
	'.cct_s == $plan[0].cct_s and .bound_s == $plan[0].bound_s and
	 .cluster_sha256 == $plan[0].cluster_sha256 and .compile_s > 0 and
	 .old_cct_s <= .cct_s and .lost > 0 and
	 .segment_count == ($plan[0].segments | length) and
	 .kept == ([.changes[].kept] | add) and
	 ($plan[0].segments | map(.circuits | length) | add) == .kept + .new' \
	"$work/out"
ktap_check "an OCS fails, the plan is duplex" status 0 $recompile \
	--failed-ocs ocs2 --cluster-out "$left" -o "$work/new.json" \
	"$work/duplex.json"
ktap_check "it stays so" sh -c "$check '$work/new.json' &&
	jq -e '[.segments[].circuits[]] | length > 0' '$work/new.json'"
ktap_check "without its lanes" sh -c \
	"jq -e '[.nodes[].ports[2] | .tx, .rx] | all(. == null)' '$left'"
ktap_check "what is left can lose more" status 0 lacec recompile -c "$left" \
	-s "$job" --failed 0/1 -o "$work/again.json" "$work/new.json"
ktap_check "no plan any more: pair, OCS and op" sh -c \
	"$recompile $all '$work/plan.json' >/dev/null 2>'$work/err'
	 [ \$? = 1 ] && grep -q 'plan.json: segment 0, op [0-9]* (.*): node' '$work/err' &&
	 grep -q ' has neither circuit nor route: OCS ocs0 has 0 TX lanes' '$work/err'"
ktap_check "a plan of another cluster" sh -c \
	"lacec recompile -c '$left' -s '$job' --failed 0/1 '$work/plan.json' \
	 2>'$work/err'; [ \$? = 1 ] &&
	 grep -q '^lacec: $work/plan.json: is of another cluster: ' '$work/err'"
edit='.segments[0].circuits[0][2] = .segments[0].circuits[0][0]'
jq "$edit" "$work/plan.json" >"$work/bad.json"
ktap_check "an old plan that is none" status 1 $recompile --failed 0/1 \
	"$work/bad.json"
for args in "--failed 9/9 $work/plan.json" "--failed-ocs x $work/plan.json" \
	"$work/plan.json" "--failed 0/0" "--failed 0/0 -- no/such.json"; do
	ktap_check "refused: $args" status 2 $recompile $args
done
lacec compile -c "$cluster" -s "$job" --scheduler packet -o "$work/packet.json"
ktap_check "a plan without circuits" sh -c \
	"$recompile --failed 0/1 '$work/packet.json' 2>'$work/err'; [ \$? = 1 ] &&
	 grep -q 'packet.json: is of the packet scheduler, and has no' '$work/err'"
cp "$left" "$work/kept.json"
ktap_check "a plan that cannot be written" status 2 $recompile --failed 0/1 \
	"$work/plan.json" --cluster-out "$left" -o "$work/no/such.json"
ktap_check "leaves the cluster as it was" cmp "$left" "$work/kept.json"
ktap_check "plan and cluster in one file" status 2 $recompile --failed 0/1 \
	"$work/plan.json" --cluster-out "$work/z.json" -o "$work/z.json"
ktap_check "--help" sh -c \
	"lacec recompile --help | grep -q '^usage: lacec recompile '"
ktap_end
