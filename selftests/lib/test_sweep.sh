#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lacec sweep as its users see it: the table agrees with compile point by point,
# its order does not depend on the number of processes, the plot is one.
. "$(dirname "$0")/../ktap.sh"
. "$(dirname "$0")/lacec.sh"

here=$(dirname "$0")
example=Documentation/examples/testbed3
files="-c $example/cluster.json -s $example/schedule.json"
model="llama3.1-8b --pp 2 --microbatches 4 --rate 100G"

# says TEXT COMMAND...: it exits with 2 and one line that has TEXT
says() {
	says_line 2 "$@"
}

# Without the time that compiling took.
timeless() {
	cut -d , -f 1-13,15 "$1"
}

# table FILE EXPRESSION: a line of Python over its rows
table() {
	python3 - "$1" "$2" <<'END'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("not so: %s" % rows[:4])
END
}

ktap_plan 44

# ---- the table ----

ktap_check "a model, two axes" status 0 lacec sweep $model --servers 8,4 \
	--lanes 2,4 --scheduler symmetric,lace,packet --csv "$work/a.csv"
ktap_check "nothing else is printed" same "$(cat "$work/out")" ""
ktap_check "the head" same "$(head -n 1 "$work/a.csv")" \
	"schedule,servers,lanes,control_ratio,reconfig_s,scheduler,cct_s,transmit_s,reconfig_total_s,segments,bound_s,gap,ratio,compile_s,why"
ktap_check "rows in the order of the options" table "$work/a.csv" \
	'[(r["servers"], r["lanes"], r["scheduler"]) for r in rows] ==
	 [(n, p, s) for n in ("8", "4") for p in ("2", "4")
	  for s in ("symmetric", "lace", "packet")]'
ktap_check "what was not asked for is the default" table "$work/a.csv" \
	'all(r["reconfig_s"] == "0.02" and r["control_ratio"] == "0.01" and
	     r["schedule"] == "llama3.1-8b" for r in rows)'
ktap_check "ratios are to lace, gaps to the bound" table "$work/a.csv" \
	'all(abs(float(r["ratio"]) - float(r["cct_s"]) /
		 float(rows[i // 3 * 3 + 1]["cct_s"])) < 1e-9 and
	     abs(float(r["gap"]) - float(r["cct_s"]) / float(r["bound_s"]) + 1) < 1e-9
	     for i, r in enumerate(rows))'
ktap_check "many processes" status 0 lacec sweep $model --servers 8,4 \
	--lanes 2,4 --scheduler symmetric,lace,packet -j 5
timeless "$work/a.csv" >"$work/one"
timeless "$work/out" >"$work/many"
ktap_check "write the same table" cmp "$work/one" "$work/many"
lacec generate llama3.1-8b --pp 2 --microbatches 4 --servers 4 \
	-o "$work/job.json"
lacec cluster --servers 4 --ports 2 --rate 100G -o "$work/cluster.json"
lacec compile -c "$work/cluster.json" -s "$work/job.json" -o "$work/plan.json"
ktap_check "compile says the same" table "$work/a.csv" \
	"abs(float(rows[7]['cct_s']) / $(jq .cct_s "$work/plan.json") - 1) < 1e-9 and
	 rows[7]['segments'] == '$(jq '.segments | length' "$work/plan.json")'"

# ---- two files ----

ktap_check "a cluster and a schedule" status 0 lacec sweep $files \
	--reconfig 20ms,0,2s --csv "$work/b.csv"
ktap_check "2 s is what the file says" table "$work/b.csv" \
	'abs(float(rows[4]["cct_s"]) / 14.967691144069 - 1) < 1e-9 and
	 rows[0]["lanes"] == "2"'
ktap_check "slower is not faster" table "$work/b.csv" \
	'float(rows[2]["cct_s"]) <= float(rows[0]["cct_s"]) <= float(rows[4]["cct_s"])'
ktap_check "fewer lanes, other control" status 0 lacec sweep $files \
	--lanes 1,2 --control 0,0.02 --scheduler lace,symmetric-oneshot \
	--csv "$work/c.csv"
ktap_check "no plan is a row that says why" table "$work/c.csv" \
	'any(not r["cct_s"] and r["why"] for r in rows) and
	 any(r["cct_s"] and not r["why"] for r in rows)'
edit='.nodes |= map(.ports |= .[:1])'
jq "$edit" $example/cluster.json >"$work/one.json"
ktap_check "one lane is the first port" sh -c \
	"lacec sweep -c '$work/one.json' -s $example/schedule.json --scheduler uniform |
	 cut -d , -f 7-13 >'$work/x'
	 lacec sweep $files --lanes 1 --scheduler uniform | cut -d , -f 7-13 |
	 cmp - '$work/x'"

# ---- the plot ----

ktap_check "a plot and no table" status 0 lacec sweep $model \
	--reconfig 0,1us,1ms,20ms,2s --lanes 2,4 --servers 4 \
	--scheduler lace,symmetric --plot "$work/a.svg"
ktap_check "nothing is printed" same "$(cat "$work/out")" ""
ktap_check "it is one" python3 "$here/svg.py" "$work/a.svg" lines=4 points=20 \
	x="0,1 us,1 ms,20 ms,2 s" legend="lace,symmetric,2 lanes,4 lanes"
ktap_check "where plans are missing, too" status 0 lacec sweep $files \
	--lanes 1,2 --control 0,0.02 --scheduler lace,symmetric-oneshot \
	--plot "$work/c.svg" --y ratio --csv "$work/c.csv"
ktap_check "points are plans" python3 "$here/svg.py" "$work/c.svg" lines=4 \
	points="$(python3 -c 'import csv, sys
print(sum(bool(r["ratio"]) for r in csv.DictReader(open(sys.argv[1]))))' \
		"$work/c.csv")"
ktap_check "values close together" status 0 lacec sweep $files \
	--reconfig 20ms,21ms,22ms,2s --scheduler lace --plot "$work/g.svg"
ktap_check "have labels where there is room" python3 "$here/svg.py" \
	"$work/g.svg" lines=1 points=4 x="20 ms,2 s"
ktap_check "one point" status 0 lacec sweep $files --plot "$work/d.svg" \
	--y gap --x servers
ktap_check "is a plot" python3 "$here/svg.py" "$work/d.svg" lines=2 points=2
jq '.name = "a<b>&\"c\" ä"' $example/schedule.json >"$work/name.json"
ktap_check "a name is escaped" sh -c \
	"lacec sweep -c $example/cluster.json -s '$work/name.json' --plot '$work/e.svg' &&
	 python3 '$here/svg.py' '$work/e.svg' lines=2 points=2 'title=a<b>&\"c\" ä'"
jq '.name = "ä" * 130' $example/schedule.json >"$work/name.json"
ktap_check "a long one is cut between letters" sh -c \
	"lacec sweep -c $example/cluster.json -s '$work/name.json' \\
		--control 0,0.01 --plot '$work/e.svg' &&
	 python3 '$here/svg.py' '$work/e.svg' lines=2 points=4"

# ---- words ----

ktap_check "a bad value" says '--reconfig "x" is no time' \
	lacec sweep $model --reconfig 1ms,x
ktap_check "a value twice" says "--lanes has 4 twice" \
	lacec sweep $model --lanes 4,8,4
ktap_check "a value that no cluster file has" \
	says '--control "1e300": at most 1000' lacec sweep $files --control 1e300
ktap_check "a time that none has" says '--reconfig "2e9": at most 1e+09' \
	lacec sweep $files --reconfig 2e9
ktap_check "far more processes than points or files" sh -c \
	"ulimit -n 64 && lacec sweep $files -j 2147483647 >'$work/j.csv'"
ktap_check "no plan at all" status 1 lacec sweep $files --lanes 1 \
	--control 0.02 --scheduler symmetric --plot "$work/e.svg"
ktap_check "is said, and why" grep -q \
	'^lacec: no point has a plan, the first because: op "' "$work/err"
ktap_check "no such scheduler" says 'there is no scheduler "best"' \
	lacec sweep $model --scheduler lace,best
ktap_check "stages that do not fit" says "lacec: " \
	lacec sweep llama3.1-8b --pp 3 --servers 6,8 -j 2
ktap_check "more lanes than ports" says "--lanes 9: node gpu0 has" \
	lacec sweep $files --lanes 9
ktap_check "too many lines" says "a plot over reconfig has at most" \
	lacec sweep $model --reconfig 1,2,3,4 --lanes 1,2,3 --servers 2,4,8 \
	--plot "$work/f.svg"
for args in "" "$model $files" "$files --servers 4"; do
	ktap_check "usage: lacec sweep $args" status 2 lacec sweep $args
done
ktap_check "a table and a plot in one file" says \
	"--csv and --plot are one file" lacec sweep $files \
	--csv "$work/z" --plot "$work/z"
ktap_check "a plot that cannot be written" says "no/such.svg: cannot write" \
	lacec sweep $files --csv "$work/z" --plot "$work/no/such.svg"
ktap_check "leaves no table" same "$(ls "$work" | grep '^z')" ""
ktap_check "--help" sh -c \
	"lacec sweep --help | grep -q '^usage: lacec sweep '"
ktap_end
