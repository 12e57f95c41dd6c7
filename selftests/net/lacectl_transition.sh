#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lacectl transition and hook on one device, whose two segments have the same
# circuits: what is printed, the environment of a hook's command, its exit
# status as the answer, and how a hook ends.
#
# timeout: 400
. "$(dirname "$0")/../ktap.sh"

PATH=$PWD/build/tools:$PATH
work=$(mktemp -d)
ns=transition$$
hook=
monitor=

cleanup() {
	[ -z "$hook" ] || kill "$hook" 2>/dev/null
	[ -z "$monitor" ] || kill "$monitor" 2>/dev/null
	ip netns del "$ns" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

on() {
	lacectl -n "$ns" "$@"
}

# refused STATUS WORDS COMMAND...
refused() {
	local status=$1 words=$2 got
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	got=$?
	cat "$work/out" "$work/err"
	[ $got = "$status" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
		grep -qF -- "$words" "$work/err"
}

go() {
	on transition start dev lace0 to "$@"
}

# says FILTER WORDS...: jq's FILTER is true of what lacectl WORDS prints
says() {
	local filter=$1
	shift
	on -j "$@" >"$work/json" && jq -es ".[0] | $filter" "$work/json" \
		>/dev/null || { cat "$work/json"; false; }
}

# last FILTER: it is true of the last transition
last() {
	says "$1" transition show dev lace0
}

no_hook() {
	[ "$(on -j hook | jq length)" = 0 ]
}

one_hook() {
	[ "$(on -j hook | jq length)" = 1 ]
}

# start_hook PHASES COMMAND...
start_hook() {
	local phases=$1
	shift
	lacectl -n "$ns" hook run dev lace0 name mover phase "$phases" -- "$@" \
		>"$work/hook" 2>"$work/hook.err" &
	hook=$!
	poll_until 20 one_hook
}

stop_hook() {
	local status
	kill "$hook"
	wait "$hook"
	status=$?
	hook=
	poll_until 20 no_hook && [ $status = 0 ] && [ ! -s "$work/hook.err" ]
}

saw() {
	jq -es "any(.[]; $1)" <"$work/events" >/dev/null
}

comes() {
	poll_until 10 saw "$1" || { cat "$work/events"; false; }
}

listens() {
	ip netns exec "$ns" cat /proc/net/netlink |
		awk '$2 == 16 && $4 != "00000000"' | grep -q .
}

modprobe lace && modprobe dummy
ip netns add "$ns" &&
	ip -n "$ns" link add lace0 type lace &&
	ip -n "$ns" link add p0 address 02:00:00:00:00:00 master lace0 type dummy &&
	ip -n "$ns" link set p0 up &&
	ip -n "$ns" link set lace0 up &&
	on device set lace0 node 0 &&
	on node add dev lace0 id 0 port 0 mac 02:00:00:00:00:00 &&
	on node add dev lace0 id 1 port 0 mac 02:00:00:00:01:00 &&
	on segment load dev lace0 id 0 tx 0 1 0 rx 0 1 0 &&
	on segment load dev lace0 id 1 tx 0 1 0 rx 0 1 0 &&
	on segment activate dev lace0 id 0 || exit 1
ktap_plan 38

# ---- without a hook ----

ktap_check "there was none yet" refused 1 "there was none yet" \
	on transition show dev lace0
ktap_check "none in the history" says '. == []' transition history
ktap_check "a transition" go 1
ktap_check "is done" last '.result == "done" and .from == 0 and .to == 1 and
	.phase == "idle" and .faults == [] and .reason == null and .attempt == 1'
ktap_check "and the segment active" says '.[0].segment == 1' device
ktap_check "JSON of its end" says '.result == "done" and .retries == 2 and
	.no_drain and .on_failure == "degrade" and .deadlines_ms.verify == 77' \
	transition start dev lace0 to 0 retries 2 on-failure degrade no-drain \
	deadline verify 77
ktap_check "to a segment that is not there" refused 1 "lace0: " go 9
ktap_check "bad words" refused 2 '"to SEGMENT" is missing' \
	on transition start dev lace0
ktap_check "a bad phase" refused 2 '"slow" is none of: quiesce, drain' \
	go 1 deadline slow 1
ktap_check "a bad number" refused 2 'retries "17"' go 1 retries 17
ktap_check "nothing to abort" refused 1 "lace0: " on transition abort dev lace0
ktap_check "the history has both" says 'length == 2 and .[0].id < .[1].id' \
	transition history

# ---- a hook ----

ktap_check "no hook" no_hook
lacectl -j -n "$ns" monitor >"$work/events" &
monitor=$!
poll_until 20 listens
# shellcheck disable=SC2016
start_hook quiesce,switch,resume \
	sh -c "env | grep ^LACE_ >>$work/env; echo \$LACE_PHASE >>$work/phases"
ktap_result "a hook" $?
ktap_check "is shown" says '.[0].name == "mover" and (.[0].busy | not) and
	.[0].phases == ["quiesce", "switch", "resume"]' hook show dev lace0
ktap_check "its name is taken" refused 1 "another socket has it" \
	on hook run dev lace0 name mover phase switch -- true
# Three processes for each call take a while where they are emulated.
ktap_check "a transition that it takes part in" go 1 deadline quiesce 20000 \
	deadline switch 20000 deadline resume 20000
ktap_check "runs its command for each phase" sh -c \
	"[ \"\$(tr '\n' ' ' <$work/phases)\" = 'quiesce switch resume ' ]"
for word in DEV=lace0 HOOK=mover PHASE=switch FROM=0 TO=1 ATTEMPT=1 BACK=0; do
	ktap_check "which has LACE_${word%=*}" grep -qx "LACE_$word" "$work/env"
done
ktap_check "the monitor saw the phases" comes \
	'.event == "transition" and .data.phase == "switch"'
ktap_check "and the end" comes \
	'.event == "transition" and .data.result == "done"'
ktap_check "and the hook" comes '.event == "hook" and .data.name == "mover"'
ktap_check "and its calls" comes \
	'.event == "hook_called" and .data.phase == "quiesce" and .data.to == 1'
stop_hook
ktap_result "it ends when it is told" $?
ktap_check "the monitor saw that, too" comes '.event == "hook_deleted"'
kill "$monitor"
wait "$monitor"
monitor=

# ---- a hook that fails ----

# On the way back it does well.
# shellcheck disable=SC2016
start_hook switch sh -c '[ "$LACE_BACK" = 1 ] || exit 3'
ktap_check "a command that fails" refused 1 \
	"was rolled back: hook mover" go 0
ktap_check "its exit status is the reason" last \
	'.result == "rolled_back" and (.reason | contains("exit status 3"))
	and .faults[0].kind == "hook" and .faults[0].hook == "mover"'
stop_hook
start_hook quiesce sleep 60
ktap_check "a command that takes too long" refused 1 "was rolled back" \
	go 0 deadline quiesce 200
ktap_check "is killed" poll_until 10 sh -c "! pgrep -x -f 'sleep 60'"
stop_hook
start_hook quiesce sleep 60
go 0 deadline quiesce 60000 >"$work/out" 2>&1 &
poll_until 10 says '.[0].busy' hook
ktap_check "abort" on transition abort dev lace0
wait $!
ktap_check "the transition is back" last \
	'.result == "rolled_back" and .faults[0].kind == "aborted"'
on hook del dev lace0 name mover
wait "$hook"
[ $? = 1 ]
ktap_result "a hook that is deleted ends" $?
hook=
ktap_end
