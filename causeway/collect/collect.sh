#!/bin/sh
# Say what a node is on its network, as `causeway import` reads it. Run it as root on every node:
#
#     ssh NODE sh -s < collect.sh > FOLDER/NODE
#
# It changes nothing and writes no file. It needs a shell and iproute2 (of 2018 or later, for ip -j), and takes what else
# there is. It never opens a private key; of public keys it gives a hash, of what may hold passwords what is around them.
#
# A line that begins with == begins a section; every line of a section's contents begins with a blank. The last sections
# are lists of what was taken and of what is not there.
set -uf
export LC_ALL=C
newline='
'
taken='' absent=''

begin() {
	printf '== %s\n' "$1"
	taken="$taken$1$newline"
}

missing() { absent="$absent$1$newline"; }

# indent TEXT: its lines as contents
indent() (
	IFS=$newline
	for line in $1; do printf ' %s\n' "$line"; done
)

# program NAME: where it is. (A shell may have commands of its own in place of the system's.)
program() {
	for folder in /usr/sbin /sbin /usr/bin /bin /usr/local/sbin /usr/local/bin; do
		if [ -x "$folder/$1" ]; then
			printf '%s\n' "$folder/$1"
			return
		fi
	done
	return 1
}

# command_output SECTION PROGRAM WORD...
command_output() {
	section=$1 path=$(program "$2") || path=''
	shift 2
	if [ -n "$path" ] && output=$("$path" "$@" 2>/dev/null </dev/null); then
		begin "$section"
		indent "$output"
	else
		missing "$section"
	fi
}

# file_text SECTION FILE
file_text() {
	if [ -f "$2" ] && [ -r "$2" ]; then
		begin "$1"
		while IFS= read -r line || [ -n "$line" ]; do printf ' %s\n' "$line"; done <"$2"
	else
		missing "$1"
	fi
}

# without_passwords: standard input, without what mount options say after pass=, password=, secret= and the like
without_passwords() {
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		*[Pp][Aa][Ss][Ss]*=* | *[Ss][Ee][Cc][Rr][Ee][Tt]*=* | *[Kk][Ee][Yy]=*)
			rest=$line, line=''
			while [ -n "$rest" ]; do
				word=${rest%%,*} rest=${rest#*,}
				case $word in
				*[Pp][Aa][Ss][Ss]*=* | *[Ss][Ee][Cc][Rr][Ee][Tt]*=* | *[Kk][Ee][Yy]=*) word="${word%%=*}=(left out)" ;;
				esac
				line="$line${line:+,}$word"
			done
			;;
		esac
		printf ' %s\n' "$line"
	done
}

# mount_table SECTION FILE
mount_table() {
	if [ -r "$2" ]; then
		begin "$1"
		without_passwords <"$2"
	else
		missing "$1"
	fi
}

# hashed WORD: a hash of a public key, or a dash where nothing can make one
hashed() {
	if [ -n "$sha256" ] && sum=$(printf %s "$1" | "$sha256"); then
		printf 'hash:%.32s' "$sum"
	else
		printf -- -
	fi
}

# public_keys SECTION FILE: of each line the names before the key (known_hosts), its type, its hash and its comment. What
# an authorized key may do is left out, as its options may hold secrets.
public_keys() {
	if ! [ -r "$2" ]; then
		missing "$1"
		return
	fi
	begin "$1"
	while IFS= read -r line || [ -n "$line" ]; do
		names='' type='' key='' comment=''
		for word in $line; do
			case $word in
			'#'*) [ -n "$key" ] || break ;;
			esac
			if [ -n "$key" ]; then
				comment="$comment $word"
			elif [ -n "$type" ]; then
				key=$(hashed "$word")
			else
				case $word in
				ssh-* | ecdsa-* | sk-*) type=$word ;;
				*) names="$names $word" ;;
				esac
			fi
		done
		[ "$3" = names ] || names=''
		[ -z "$key" ] || printf ' %s\n' "${names:+${names# } }$type $key$comment"
	done <"$2"
}

# tunable KEY: its value, of the network's alone, and never that of a secret
tunable() {
	case $1 in
	*key* | *secret*) return ;;
	net[./]*) ;;
	*) return ;;
	esac
	path=/proc/sys rest=$1.
	case $1 in
	*/*) path=/proc/sys/$1 rest='' ;; # sysctl.conf(5): a name with slashes is a path
	esac
	while [ -n "$rest" ]; do path=$path/${rest%%.*} rest=${rest#*.}; done
	if [ -r "$path" ] && IFS= read -r value <"$path" 2>/dev/null; then printf ' %s = %s\n' "$1" "$value"; fi
}

# set_tunables: the keys that the administrator's files set
set_tunables() (
	set +f
	for file in /etc/sysctl.conf /etc/sysctl.d/*.conf; do
		[ -r "$file" ] || continue
		while IFS= read -r line || [ -n "$line" ]; do
			case $line in
			[\#\;]* | '') ;;
			*=*)
				key=${line%%=*}
				for word in $key; do printf '%s\n' "${word#-}"; done
				;;
			esac
		done <"$file"
	done
)

# What a path matches, a line each; nothing where it matches nothing.
matches() (
	set +f
	for file in $1; do [ ! -e "$file" ] || printf '%s\n' "$file"; done
)

sha256=$(program sha256sum) || sha256=''
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
	if IFS= read -r value 2>/dev/null <"$device/speed" && [ "$value" -gt 0 ] 2>/dev/null; then
		printf ' %s %s\n' "${device##*/}" "$value"
	elif [ "${device##*/}" != lo ]; then
		unknown="$unknown ${device##*/}"
	fi
done
for device in $unknown; do command_output "ethtool $device" ethtool "$device"; done
command_output tc-qdisc tc -j qdisc show
for device in $devices; do
	tc=$(program tc) && class=$("$tc" -j class show dev "${device##*/}" 2>/dev/null) || class=''
	case $class in '' | '[]' | '[ ]') continue ;; esac
	begin "tc-class ${device##*/}"
	indent "$class"
done
command_output lldp lldpctl -f json

if [ -S /run/openvswitch/db.sock ] || [ -S /var/run/openvswitch/db.sock ]; then
	for table in bridge port interface; do
		command_output "ovs-$table" ovs-vsctl --timeout=5 --format=json list "$table"
	done
	command_output ovs-bond ovs-appctl --timeout=5 bond/show
	command_output ovs-lacp ovs-appctl --timeout=5 lacp/show
	vsctl=$(program ovs-vsctl) && bridges=$("$vsctl" --timeout=5 list-br 2>/dev/null) || bridges=''
	for bridge in $bridges; do
		command_output "ovs-fdb $bridge" ovs-appctl --timeout=5 fdb/show "$bridge"
		command_output "ovs-flows $bridge" ovs-ofctl --names dump-flows "$bridge"
	done
else
	missing 'Open vSwitch'
fi

file_text hosts /etc/hosts
file_text resolv.conf /etc/resolv.conf
file_text nsswitch.conf /etc/nsswitch.conf
if [ -r /etc/chrony/chrony.conf ]; then
	file_text chrony.conf /etc/chrony/chrony.conf
else
	file_text chrony.conf /etc/chrony.conf
fi
file_text ntp.conf /etc/ntp.conf
file_text exports /etc/exports
mount_table fstab /etc/fstab
mount_table mounts /proc/mounts

public_keys ssh_known_hosts /etc/ssh/ssh_known_hosts names
public_keys known_hosts /root/.ssh/known_hosts names
public_keys authorized_keys /root/.ssh/authorized_keys none
for file in $(matches '/etc/ssh/ssh_host_*_key.pub') $(matches '/root/.ssh/id_*.pub'); do
	public_keys "key ${file##*/}" "$file" none
done

own=$(set_tunables)
begin sysctl-set
indent "$own"
begin sysctl
for key in net.core.rmem_max net.core.wmem_max net.core.rmem_default net.core.wmem_default \
	net.core.netdev_max_backlog net.core.somaxconn net.ipv4.ip_forward net.ipv4.conf.all.rp_filter \
	net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.arp_announce net.ipv4.conf.all.arp_filter \
	net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_timestamps net.ipv4.tcp_sack net.ipv4.tcp_window_scaling \
	net.ipv4.tcp_mtu_probing net.ipv4.tcp_no_metrics_save net.ipv4.tcp_congestion_control \
	net.ipv4.fib_multipath_hash_policy $own; do
	tunable "$key"
done

printf '== taken\n'
indent "$taken"
printf '== not there\n'
indent "$absent"
printf '== end\n'
