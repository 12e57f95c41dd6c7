# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the scripts that make kernels for virtual machines, with $top set
# to the repository: where these kernels lie, packages without installing them,
# the initial RAM disk.

vm=$top/build/vm
apt_dir=$top/build/apt

die() {
	echo "setup/${0##*/}: $*" >&2
	exit 2
}

apt() {
	tool=$1
	shift
	"$tool" -q -o "Dir::Etc::SourceList=$apt_dir/none.list" \
		-o "Dir::Etc::SourceParts=$apt_dir/sources" \
		-o "Dir::State::Lists=$apt_dir/lists" \
		-o "Dir::Cache=$apt_dir/cache" \
		-o "APT::Sandbox::User=" \
		-o "Acquire::Languages=none" "$@"
}

# The machine's own Debian sources, and backports from the same place. The
# system's list is left alone; apt gets a private one.
apt_update() {
	[ ! -e "$apt_dir/updated" ] || return 0
	rm -rf "$apt_dir"
	mkdir -p "$apt_dir/sources" "$apt_dir/lists/partial" \
		"$apt_dir/cache/archives/partial"
	: >"$apt_dir/none.list"
	"$top/selftests/setup/sources" "$apt_dir/sources" ||
		die "no Debian 12 (bookworm) source on this machine"
	apt apt-get update >"$apt_dir/log" 2>&1 || {
		cat "$apt_dir/log" >&2
		die "cannot read the package lists"
	}
	: >"$apt_dir/updated"
}

initrd() {
	dir=$vm/$1
	release=$(cat "$dir/release")
	tmp=$dir/initrd.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp/bin" "$tmp/modules" "$tmp/dev" "$tmp/proc" "$tmp/sys" \
		"$tmp/root"
	cp "$(command -v busybox)" "$tmp/bin/busybox"
	ln -s busybox "$tmp/bin/sh"
	cp "$top/selftests/vm/initrd-init" "$tmp/init"
	chmod 755 "$tmp/init"
	for module in $boot_modules; do
		modprobe -d "$dir/root" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r file; do
		cp "$file" "$tmp/modules/"
		echo "${file##*/}"
	done >"$tmp/modules/order"
	(cd "$tmp" && find . | LC_ALL=C sort |
		cpio -o -H newc -R 0:0 --quiet) >"$dir/initrd.new"
	mv "$dir/initrd.new" "$dir/initrd.img"
	rm -rf "$tmp"
}
