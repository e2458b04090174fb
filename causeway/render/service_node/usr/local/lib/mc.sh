# What the mc commands share. The cluster's configuration is in plain files in /var/mc on this node:
#   cluster   the cluster's name and its id
#   nodes     NUMBER NAME ADDRESS, a line a node
# A member knows itself by its own /var/mc/member.
# shellcheck shell=sh disable=SC2034
me=${0##*/}
config=/var/mc
say() { echo "$me: $*"; }
refuse() {
	echo "$me: $*" >&2
	exit 1
}
the_cluster() {
	[ -s "$config/cluster" ] || refuse "there is no cluster here; mccrcluster NAME makes one"
	read -r cluster id <"$config/cluster"
}
on() { # NODE COMMAND...: by ssh, which must not ask anything
	node=$1 && shift
	ssh -n -o BatchMode=yes -o ConnectTimeout=3 "$node" "$@"
}
