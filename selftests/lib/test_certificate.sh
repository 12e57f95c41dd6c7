#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Certificates as users of lacec see them: every scheduler has one, it is
# verified, what was changed or belongs to other files is refused with one line.
. "$(dirname "$0")/../ktap.sh"
. "$(dirname "$0")/lacec.sh"

example=Documentation/examples/testbed3
proof=$work/proof.json
plan=$work/plan.json
changed=$work/changed.json
files="-c $work/cluster.json -s $work/schedule.json"

# verified PATTERN: the plan's certificate holds, and this is said of it
verified() {
	lacec check $files --certificate "$proof" "$plan" >"$work/out" &&
		grep -q "$1" "$work/out" && return
	cat "$work/out"
	return 1
}

# refused PATTERN EXPRESSION: the certificate with something changed
refused() {
	jq "$2" "$proof" >"$changed" &&
		matches_line 1 "changed.json: .*$1" \
			lacec check $files --certificate "$changed" "$plan"
}

ktap_plan 32

lacec generate llama3.1-70b --servers 32 --pp 4 --microbatches 16 \
	-o "$work/schedule.json"
lacec cluster --servers 32 --ports 16 --rate 400G -o "$work/cluster.json"
for scheduler in lace lace-oneshot symmetric symmetric-oneshot symmetric-perop \
	topoopt packet; do
	kind="no plan"
	[ "${scheduler#symmetric}" = "$scheduler" ] || kind="no duplex plan"
	ktap_check "$scheduler: compile writes a certificate" \
		lacec compile $files --scheduler $scheduler \
		--certificate "$proof" -o "$plan"
	ktap_check "$scheduler: check verifies it" verified \
		"^$kind takes less than $(jq .bound_s "$plan" | head -c 6)"
done

lacec compile $files --certificate "$proof" -o "$plan"
lacec compile $files -o "$work/again.json"
ktap_check "the plan is the same without one" cmp "$plan" "$work/again.json"
lacec compile $files --certificate "$work/again.json" -o "$plan"
ktap_check "the certificate is the same twice" cmp "$proof" "$work/again.json"
ktap_check "it is small" test "$(wc -c <"$proof")" -lt 65536

ktap_check "a bound raised by a thousandth" refused "last potential is" \
	'.bound_s *= 1.001'
ktap_check "a potential raised by a thousandth" \
	refused "the potentials ask for" '.potentials[-1] *= 1.001'
ktap_check "a proof that claims more" refused "proves .* s, not" \
	'.proofs[0].at_least *= 1.001'
ktap_check "a proof that is not there" refused "are proven, the potentials" \
	'del(.proofs[-1])'
ktap_check "a step that is not there" refused "the proof ends too early" \
	'.proofs[0].steps |= .[:-1]'
ktap_check "of another cluster" refused "cluster_sha256 is 0000" \
	'.cluster_sha256 = "0" * 64'
ktap_check "of another schedule" refused "schedule_sha256 is 0000" \
	'.schedule_sha256 = "0" * 64'
jq '.bound_s *= 0.9' "$proof" >"$changed"
ktap_check "of a lower bound" matches_line 1 "proves a bound of .* the plan's bound_s" \
	lacec check $files --certificate "$changed" "$plan"

# ---- the example, and nothing at all ----

files="-c $example/cluster-fast.json -s $example/schedule.json"
lacec compile $files --certificate "$proof" -o "$plan"
ktap_check "the example" verified "intervals of 48 ops"
lacec compile $files --scheduler uniform --certificate "$proof" -o "$plan"
ktap_check "the example, uniform" verified "intervals of 48 ops"
jq '.ops = []' $example/schedule.json >"$work/empty.json"
files="-c $example/cluster.json -s $work/empty.json"
lacec compile $files --certificate "$proof" -o "$plan"
ktap_check "a schedule without ops" verified "less than 0 s: 0 proofs"
ktap_check "a file that is none" matches_line 2 "schedule.json:2: format: has to be" \
	lacec check $files --certificate $example/schedule.json "$plan"
ktap_check "plan and proof in one file" matches_line 2 "compile: -o and --certificate are one" \
	lacec compile $files --certificate "$work/z" -o "$work/z"
ktap_check "a plan that cannot be written" matches_line 2 "no/such: cannot write" \
	lacec compile $files --certificate "$work/z" -o "$work/no/such"
ktap_check "leaves no proof" sh -c "! ls '$work' | grep '^z'"

ktap_end
