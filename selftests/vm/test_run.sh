#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is selftests/vm/run a faithful messenger? All other tests in virtual machines
# trust it with their results.
#
# timeout: 900
cd "$(dirname "$0")/../.." || exit 2
. selftests/ktap.sh

work=$(mktemp -d -p "$PWD/build" vm-test.XXXXXX)
trap 'rm -rf "$work"' EXIT

# vm STATUS COMMAND...: run it, with output in $work; was the status that one?
vm() {
	local want=$1
	shift
	selftests/vm/run --no-modules "$@" >"$work/out" 2>"$work/err"
	local got=$?
	[ "$got" = "$want" ] && return
	echo "exit status $got, not $want; standard error:"
	cat "$work/err"
	return 1
}

# One boot for all that a command can tell about its surroundings
surroundings() {
	vm 0 --kernel "$1" -- sh -ec '
		echo uid $(id -u)
		echo pwd $PWD
		echo release $(uname -r)
		echo host $(hostname)
		echo kernel $LACE_KERNEL
		echo handed-on $LACE_TEST_VALUE
		echo python $(command -v python3)
		ip -o link show lo | grep -o "UP,LOWER_UP\|LOOPBACK,UP" | head -1
		for dir in /proc /sys /dev/pts /sys/fs/bpf /sys/fs/cgroup \
			/sys/kernel/debug /sys/kernel/tracing /tmp /run; do
			mountpoint -q $dir && echo mounted $dir
		done
		modprobe -a veth sch_tbf sch_ingress cls_bpf
		ip link add v0 type veth peer name v1
		echo scratch >/etc/lace-vm-was-here
		echo from inside >"$1/share"
		echo done' - "$work"
}

saw() {
	grep -qxF -- "$1" "$work/out" || { cat "$work/out"; return 1; }
}

both_streams() {
	vm 7 -- sh -c 'echo to out; echo to err >&2; exit 7' &&
		[ "$(cat "$work/out")" = "to out" ] &&
		[ "$(cat "$work/err")" = "to err" ]
}

arguments() {
	set -- 'two words' "it's" '"quoted"' '$HOME' 'a\b' '' '*' $'line\nbreak' 'é'
	printf '<%s>\n' "$@" >"$work/expected"
	vm 0 -- printf '<%s>\n' "$@" && cmp "$work/expected" "$work/out"
}

by_signal() {
	vm 137 -- sh -c 'kill -9 $$'
}

much_output() {
	seq 200000 >"$work/expected"
	vm 0 -- seq 200000 && cmp "$work/expected" "$work/out"
}

left_behind() {
	vm 3 --timeout 60 -- sh -c 'sleep 300 & exit 3'
}

panics() {
	vm 125 -- sh -c 'echo before; sync; echo c >/proc/sysrq-trigger' &&
		grep -q 'sysrq: Trigger a crash\|Kernel panic' "$work/err" &&
		grep -qx before "$work/out"
}

# gives_up TIMES: a QEMU that gives itself up so often, and then works
gives_up() {
	local real=$PWD/build/vm/qemu/usr
	: >"$work/starts"
	cat >"$work/qemu" <<-EOF
		#!/bin/sh
		echo >>"$work/starts"
		if [ \$(wc -l <"$work/starts") -le $1 ]; then
			echo "qemu-system-x86_64: a.c:1: f: Assertion \\\`i' failed." >&2
			exit 134
		fi
		exec "$real/bin/qemu-system-x86_64" -L "$real/share/qemu" \\
			-L "$real/share/seabios" "\$@"
	EOF
	chmod +x "$work/qemu"
}

gives_itself_up() {
	gives_up 2
	LACE_QEMU=$work/qemu vm 0 --accel tcg -- true || return
	[ "$(wc -l <"$work/starts")" -ge 3 ] || return	# it may do so itself
	gives_up 9
	LACE_QEMU=$work/qemu vm 123 --accel tcg -- true &&
		grep -q 'gave itself up' "$work/err" &&
		[ "$(wc -l <"$work/starts")" = 4 ] &&
		LACE_QEMU=$work/none vm 125 -- true &&
		grep -q "no QEMU there: $work/none" "$work/err"
}

# What the kernel says where QEMU runs a breakpoint that was taken away.
dies_of_breakpoint='echo "<0>Oops: int3: 0000" >/dev/kmsg
	echo c >/proc/sysrq-trigger'

miscarries() {
	vm 123 --accel tcg -- sh -c "$dies_of_breakpoint" &&
		grep -q 'breakpoint that was no longer there' "$work/err"
}

takes_turns() {
	vm 0 --accel single -- sh -c '[ "$(nproc)" = 2 ]' &&
		vm 125 --accel single -- sh -c "$dies_of_breakpoint"
}

hangs() {
	vm 124 --timeout 3 -- sh -c 'echo started; sleep 300' &&
		grep -q 'did not end in 3 seconds' "$work/err" &&
		grep -q 'lace-vm: command starts' "$work/err" &&
		grep -qx started "$work/out"
}

halts() {
	vm 125 -- busybox poweroff -f
}

# Linux does not start in so little memory.
no_boot() {
	vm 125 --memory 64 --boot 10 -- true &&
		grep -q 'the machine did not start in 10 seconds' "$work/err"
}

warns() {
	vm 126 -- sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg' &&
		grep -q 'the kernel complained: .*WARNING: CPU: 0' "$work/err" &&
		vm 0 --allow-warnings -- \
			sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg'
}

two_at_once() {
	selftests/vm/run --no-modules -- sh -c 'sleep 3; exit 11' &
	local first=$! one two
	selftests/vm/run --no-modules -- sh -c 'sleep 3; exit 12'
	two=$?
	wait "$first"
	one=$?
	[ "$one $two" = "11 12" ]
}

interrupted() {
	selftests/vm/run --no-modules -- \
		sh -c 'echo up; exec sleep 300' >"$work/out" 2>"$work/err" &
	local pid=$! status
	poll_until 120 grep -q up "$work/out" || return
	kill -TERM $pid
	wait $pid
	status=$?
	[ "$status" = 143 ] && ! pgrep -f "path=$PWD/build/vm/run[.]$pid[.]"
}

# A machine's folder is named after the process that started it; those of
# others who are still at work do not count.
nothing_left() {
	local dir pid status=0
	for dir in build/vm/run.*; do
		pid=${dir#build/vm/run.}
		pid=${pid%%.*}
		[ ! -d "$dir" ] || kill -0 "$pid" || status=1
	done
	return $status
}

usage_errors() {
	vm 2 && vm 2 --kernel 5.4 -- true && vm 2 --timeout never -- true &&
		vm 2 --memory -1 -- true && vm 2 --frobnicate -- true
}

ktap_plan 37
for kernel in 6.1 6.12; do
	export LACE_TEST_VALUE="a b"
	ktap_check "$kernel: runs a command" surroundings $kernel
	ktap_check "$kernel: as root" saw "uid 0"
	ktap_check "$kernel: in the repository" saw "pwd $PWD"
	ktap_check "$kernel: with that kernel" \
		saw "release $(cat build/vm/$kernel/release)"
	ktap_check "$kernel: named in a variable" saw "kernel $kernel"
	ktap_check "$kernel: variables handed on" saw "handed-on a b"
	ktap_check "$kernel: Debian's Python first" saw "python /usr/bin/python3"
	ktap_check "$kernel: all is mounted" \
		test "$(grep -c '^mounted ' "$work/out")" = 9
	ktap_check "$kernel: writes to the repository reach the host" \
		grep -qx 'from inside' "$work/share"
	ktap_check "$kernel: writes elsewhere do not" \
		test ! -e /etc/lace-vm-was-here
done
ktap_check "exit status and both streams" both_streams
ktap_check "arguments survive" arguments
ktap_check "a command that a signal ends" by_signal
ktap_check "much output" much_output
ktap_check "a process left behind delays nothing" left_behind
ktap_check "a panic is a failure" panics
ktap_check "a breakpoint that was no longer there" miscarries
ktap_check "a QEMU that gives itself up" gives_itself_up
ktap_check "not where processors take turns" takes_turns
ktap_check "a hang is a failure" hangs
ktap_check "a machine switched off is a failure" halts
ktap_check "a machine that does not start is a failure" no_boot
ktap_check "a warning of the kernel is a failure" warns
ktap_check "two machines at once" two_at_once
ktap_check "a signal ends the machine" interrupted
ktap_check "usage errors" usage_errors
ktap_check "nothing is left of the machines" nothing_left
ktap_end
