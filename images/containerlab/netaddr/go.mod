module inet.af/netaddr

go 1.18
