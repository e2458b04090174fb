# What the bgl commands share. A block is a set of I/O nodes: a line of /etc/bgl/blocks, NAME PATTERN.
# An allocated one has a file of its name in $BGL_STATE/blocks: its user, and since when.
# shellcheck shell=sh disable=SC2034
. /etc/bgl/profile
me=${0##*/}

say() { echo "$me: $*"; }
refuse() { # bad input: nothing has been done
	echo "$me: $*" >&2
	exit 2
}

io_nodes() { cut -d, -f3 /etc/bgl/ionodes; }
mac_of() { awk -F, -v name="$1" '$3 == name { print $1 }' /etc/bgl/ionodes; }
address_of() { awk -F, -v name="$1" '$3 == name { print $2 }' /etc/bgl/ionodes; }
last_words() { # NODE: why it waits, if it says so, or its console's last line
	log=$BGLLOGS/$1.log
	[ -s "$log" ] || log=/dev/null
	tail -n 2 "$log" | grep 'trying again' || tail -n 1 "$log" | grep . || echo "nothing on its console"
}

ras_of() { # NODE: the RAS events on its console since it was last woken, as `DATE TIME NODE BLOCK WHAT`
	[ ! -e "$BGLLOGS/$1.log" ] || awk -v node="$1" '
		/ is [0-9.]+ in block / { sub(/.* in block /, ""); block = $1; sub(/;$/, "", block) }
		match($0, /RAS advisory of [0-9-]+ [0-9:]+: /) {
			print substr($0, RSTART + 16, 19), node, block, substr($0, RSTART + RLENGTH)
		}' "$BGLLOGS/$1.log"
}

nodes_of() { # BLOCK: its I/O nodes that this machine has
	pattern=$(awk -v name="$1" '$1 == name { print $2 }' /etc/bgl/blocks)
	[ -n "$pattern" ] || return 1
	io_nodes | while read -r node; do
		# shellcheck disable=SC2254 # it is a pattern
		case $node in $pattern) echo "$node" ;; esac
	done
}

known_block() { # BLOCK: set $nodes to its nodes, or refuse
	nodes=$(nodes_of "$1") || refuse "there is no block $1; the blocks are $(awk '!/^#/ { printf "%s ", $1 }' /etc/bgl/blocks)(/etc/bgl/blocks)"
	[ -n "$nodes" ] || refuse "block $1 has no I/O node that this machine has"
}

order() { # ORDER NODE: give it to the node's service line (opened both ways, so that nobody need listen)
	echo "$1" 1<>"$BGL_POWER/$2"
}

wake() { etherwake -i "$BGL_INTERFACE" "$(mac_of "$1")"; }
