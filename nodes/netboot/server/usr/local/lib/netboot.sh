# What boots diskless nodes, whatever they are: DHCP and TFTP, and their trees by NFS.
# shellcheck shell=sh
me=${0##*/}

serve() {
	mkdir -p /run/rpc_pipefs /var/lib/nfs/nfsdcld
	mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs sunrpc /run/rpc_pipefs || return
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return
	# no delegations: whoever changes a file here would have to wait for nodes that have lost their power
	sysctl -q -w fs.leases-enable=0
	nfsdcld && exportfs -r && rpc.mountd -N 3 && rpc.nfsd -N 3 && dnsmasq || return
	# these two begin well and end in the background; who mounts then would wait for ever
	for daemon in nfsdcld rpc.mountd; do
		pgrep -x "$daemon" >/dev/null || {
			echo "$me: $daemon has ended; $daemon -F -d says why" >&2
			return 1
		}
	done
}

stop() {
	pkill -x dnsmasq
	rpc.nfsd 0
	pkill -x rpc.mountd
	pkill -x nfsdcld
	exportfs -f
	:
}

boot_image() { # FOLDER IMAGE: make the boot image of what is in a folder, and BusyBox
	mkdir -p "$1/bin" "${2%/*}" &&
		cp /usr/bin/busybox "$1/bin/" &&
		(cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1 >"$2.new") &&
		mv "$2.new" "$2"
}
