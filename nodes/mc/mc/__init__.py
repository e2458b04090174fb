"""The administrator's commands for clusters that share a parallel filesystem.

Named after GPFS's, with mc for mm (Redpaper, "Creating a single-node Blue Gene GPFS cluster" to "Adding the
IONs"). They are thin: each step is a native command or a change of a plain file, and `-v` prints it.

    native      runs commands, here and by ssh; prints them
    config      the cluster's configuration: plain files in /var/mc, kept on one node, replicated to all
    keys        the clusters' key pairs and public keys (openssl)
    drivers     the filesystems: serve, trust, grant, mount, state; one a module, as drivers/driver.py says
    states      who is active, and commands on many nodes
    nodes, settings, daemons, auth, remotes, mounts     the commands themselves
    main        names, options, exit codes
"""
