# For a diskless node's first programs: nfs SERVER CLIENT SOURCE TARGET [OPTION] mounts, for ever trying.
# shellcheck shell=sh
# In a network namespace the kernel would give up on an unreachable server; a machine's never does, nor do these.
nfs() {
	options=sloppy,vers=4.2,proto=tcp,hard,fatal_neterrors=none,addr=$1,clientaddr=$2${5:+,$5}
	until error=$(mount -i -t nfs4 -o "$options" "$1:$3" "$4" 2>&1); do
		echo "NFS server $1, $3: ${error##*failed: }; trying again in 5 s"
		sleep 5
	done
}
