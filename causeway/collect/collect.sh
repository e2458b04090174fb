#!/bin/sh
# Say what a node is on its network, as `causeway import` reads it. Run it as root on every node:
#
#     ssh NODE sh -s < collect.sh > FOLDER/NODE
#
# It changes nothing and writes no file. It needs a shell, cat, grep and iproute2 (of 2018 or later, for ip -j), and takes
# what else there is. It never opens a private key; of public keys it says type and comment, and a hash of each file; of
# what may hold passwords it says what is around them.
#
# A line that begins with == begins a section; every line of a section's contents begins with a blank. The last sections
# are lists of what was taken and of what is not there.
set -uf
export LC_ALL=C
newline='
'
IFS=" 	$newline"
taken='' absent=''

begin() {
	printf '== %s\n' "$1"
	taken="$taken$1$newline"
}

missing() { absent="$absent$1$newline"; }

# indent TEXT: its lines as contents, but for empty ones
indent() {
	IFS=$newline
	for line in $1; do printf ' %s\n' "$line"; done
	IFS=" 	$newline"
}

# find_program NAME: sets $path. (A shell may have commands of its own in place of the system's.)
find_program() {
	for path in /usr/sbin/$1 /sbin/$1 /usr/bin/$1 /bin/$1 /usr/local/sbin/$1 /usr/local/bin/$1; do
		[ -x "$path" ] && return
	done
	return 1
}

# command_output SECTION PROGRAM WORD...: leaves it in $output, too
command_output() {
	section=$1 output=''
	if find_program "$2" && shift 2 && output=$("$path" "$@" 2>/dev/null </dev/null); then
		begin "$section"
		indent "$output"
	else
		missing "$section"
	fi
}

# read_text SECTION FILE: begins the section and sets $text, where there is such a file
read_text() {
	if [ -f "$2" ] && [ -r "$2" ] && text=$(cat "$2" 2>/dev/null); then
		begin "$1"
	else
		missing "$1"
		return 1
	fi
}

file_text() {
	if read_text "$1" "$2"; then indent "$text"; fi
}

# mount_table SECTION FILE: without what mount options say after pass=, password=, secret= and the like
mount_table() {
	read_text "$1" "$2" || return 0
	IFS=$newline
	for line in $text; do
		case $line in
		*[Pp][Aa][Ss][Ss]*=* | *[Ss][Ee][Cc][Rr][Ee][Tt]*=* | *[Kk][Ee][Yy]*=*)
			rest=$line, line=''
			while [ -n "$rest" ]; do
				word=${rest%%,*} rest=${rest#*,}
				case $word in
				*[Pp][Aa][Ss][Ss]*=* | *[Ss][Ee][Cc][Rr][Ee][Tt]*=* | *[Kk][Ee][Yy]*=*) word="${word%%=*}=(left out)" ;;
				esac
				line="$line${line:+,}$word"
			done
			;;
		esac
		printf ' %s\n' "$line"
	done
	IFS=" 	$newline"
}

# public_keys SECTION FILE: a hash of all of it, and of each key the names before it, where it is one of known_hosts, its
# type and its comment. What an authorized key may do is left out, for its options may hold secrets.
public_keys() {
	read_text "$1" "$2" || return 0
	if find_program sha256sum && output=$("$path" <"$2" 2>/dev/null); then
		printf ' sha256 %s\n' "${output%% *}"
	fi
	rest=$text$newline
	while [ -n "$rest" ]; do
		line=${rest%%"$newline"*} rest=${rest#*"$newline"}
		names='' type='' left_out='' comment=''
		for word in $line; do
			case $word in
			'#'*) [ -n "$left_out" ] || break ;;
			esac
			if [ -n "$left_out" ]; then
				comment="$comment $word"
			elif [ -n "$type" ]; then
				left_out=yes
			else
				case $word in
				ssh-* | ecdsa-* | sk-*) type=$word ;;
				*) names="$names$word " ;;
				esac
			fi
		done
		case $1 in *known_hosts) ;; *) names='' ;; esac
		[ -z "$left_out" ] || printf ' %s\n' "$names$type$comment"
	done
}

# set_tunables: KEY = VALUE of what the administrator's files set of the network's, but for secrets
set_tunables() (
	set +f
	for file in /etc/sysctl.conf /etc/sysctl.d/*.conf; do
		[ -r "$file" ] || continue
		text=$(cat "$file")
		IFS=$newline
		for line in $text; do
			key=${line%%=*}
			case $key in
			[\#\;]* | *key* | *secret* | "$line") ;;
			*)
				IFS=' 	'
				for word in $key; do
					case ${word#-} in net[./]*) printf '%s =%s\n' "${word#-}" "${line#*=}" ;; esac
				done
				;;
			esac
		done
	done
)

# matches PATTERN: what it matches, a line each; nothing where it matches nothing
matches() (
	set +f
	for file in $1; do [ ! -e "$file" ] || printf '%s\n' "$file"; done
)

printf 'causeway collect 1\n'
file_text hostname /proc/sys/kernel/hostname

command_output ip-address ip -j -d address show
command_output ip-route ip -j -4 route show table all
command_output ip-route-6 ip -j -6 route show table all
command_output ip-rule ip -j -4 rule show
command_output ip-rule-6 ip -j -6 rule show
bonds=$(matches '/proc/net/bonding/*')
[ -n "$bonds" ] || missing bonding
for file in $bonds; do file_text "bonding ${file##*/}" "$file"; done

devices=$(matches '/sys/class/net/*')
begin speed
unknown=''
for device in $devices; do
	[ -d "$device" ] || continue
	if IFS= read -r value 2>/dev/null <"$device/speed" && [ "$value" -gt 0 ] 2>/dev/null; then
		printf ' %s %s\n' "${device##*/}" "$value"
	elif [ "${device##*/}" != lo ]; then
		unknown="$unknown ${device##*/}"
	fi
done
for device in $unknown; do command_output "ethtool $device" ethtool "$device"; done
command_output tc-qdisc tc -j qdisc show
case $output in
*'"htb"'* | *'"hfsc"'* | *'"drr"'* | *'"qfq"'*)
	for device in $devices; do command_output "tc-class ${device##*/}" tc -j class show dev "${device##*/}"; done
	;;
esac
command_output lldp lldpctl -f json

if [ -S /run/openvswitch/db.sock ] || [ -S /var/run/openvswitch/db.sock ]; then
	for table in port interface bridge; do
		command_output "ovs-$table" ovs-vsctl --timeout=5 --format=json list "$table"
	done
	command_output ovs-bond ovs-appctl --timeout=5 bond/show
	command_output ovs-lacp ovs-appctl --timeout=5 lacp/show
	command_output ovs-bridges ovs-vsctl --timeout=5 list-br
	for bridge in $output; do
		command_output "ovs-fdb $bridge" ovs-appctl --timeout=5 fdb/show "$bridge"
		command_output "ovs-flows $bridge" ovs-ofctl --names dump-flows "$bridge"
	done
else
	missing 'Open vSwitch'
fi

file_text hosts /etc/hosts
file_text resolv.conf /etc/resolv.conf
file_text nsswitch.conf /etc/nsswitch.conf
[ ! -r /etc/chrony/chrony.conf ] || file_text chrony.conf /etc/chrony/chrony.conf
[ -r /etc/chrony/chrony.conf ] || file_text chrony.conf /etc/chrony.conf
file_text ntp.conf /etc/ntp.conf
file_text exports /etc/exports
mount_table fstab /etc/fstab
mount_table mounts /proc/mounts

public_keys ssh_known_hosts /etc/ssh/ssh_known_hosts
public_keys known_hosts /root/.ssh/known_hosts
public_keys authorized_keys /root/.ssh/authorized_keys
for file in $(matches '/etc/ssh/ssh_host_*_key.pub') $(matches '/root/.ssh/id_*.pub'); do
	public_keys "key ${file##*/}" "$file"
done

own=$(set_tunables)
begin sysctl-set
indent "$own"
set --
for key in net.core.rmem_max net.core.wmem_max net.core.rmem_default net.core.wmem_default \
	net.core.netdev_max_backlog net.core.somaxconn net.ipv4.ip_forward net.ipv4.conf.all.rp_filter \
	net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.arp_announce net.ipv4.conf.all.arp_filter \
	net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_timestamps net.ipv4.tcp_sack net.ipv4.tcp_window_scaling \
	net.ipv4.tcp_mtu_probing net.ipv4.tcp_no_metrics_save net.ipv4.tcp_congestion_control \
	net.ipv4.fib_multipath_hash_policy $own; do
	path=/proc/sys rest=$key.
	case $key in
	net/*) path=/proc/sys/$key rest='' ;; # sysctl.conf(5): a name with slashes is a path
	net.*) ;;
	*) continue ;; # a word of a value
	esac
	while [ -n "$rest" ]; do path=$path/${rest%%.*} rest=${rest#*.}; done
	[ ! -r "$path" ] || set -- "$@" "$path"
done
begin sysctl
indent "$(grep '' /dev/null "$@" 2>/dev/null)"

printf '== taken\n'
indent "$taken"
printf '== not there\n'
indent "$absent"
printf '== end\n'
