# Sourced by the builds: what images/pins says, and where packages come from.
# shellcheck shell=bash
pins=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/pins

pinned() { # KIND NAME: version and digest
	awk -v kind="$1" -v name="$2" '$1 == kind && $2 == name { print $3, $4 }' "$pins"
}

# The mirror that the user names; or the snapshot that is pinned; or, where that cannot be reached, what is offered today.
# What was taken is written into OUTDIR/sources, which reports show.
debian_mirror() { # OUTDIR
	local snapshot version
	read -r version <<<"$(pinned snapshot debian)"
	snapshot=http://snapshot.debian.org/archive/debian/$version
	if [ -n "${CAUSEWAY_MIRROR:-}" ]; then
		echo "debian $CAUSEWAY_MIRROR, by CAUSEWAY_MIRROR, not the snapshot $version" >"$1/sources"
		mirror=$CAUSEWAY_MIRROR
	elif curl -fsI --max-time 20 -o "$1/.reached" "$snapshot/dists/trixie/InRelease"; then
		echo "debian snapshot $version" >"$1/sources"
		mirror=$snapshot
	else
		mirror=http://deb.debian.org/debian
		echo "debian $mirror as offered on $(date -u +%F), for no snapshot mirror was in reach" >"$1/sources"
	fi
	rm -f "$1/.reached"
}
