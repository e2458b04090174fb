// Package netaddr stands in for inet.af/netaddr, which the Go module proxy does not have: what gomplate
// (a dependency of containerlab) uses of it, over net/netip.
package netaddr

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// IP is one address.
type IP = netip.Addr

// IPPrefix is an address with a mask.
type IPPrefix struct{ netip.Prefix }

// IPRange is all addresses from From to To, both included.
type IPRange struct{ From, To IP }

// ParseIP reads an address.
func ParseIP(s string) (IP, error) { return netip.ParseAddr(s) }

// ParseIPPrefix reads an address/bits.
func ParseIPPrefix(s string) (IPPrefix, error) {
	prefix, err := netip.ParsePrefix(s)
	return IPPrefix{prefix}, err
}

// ParseIPRange reads an address-address.
func ParseIPRange(s string) (IPRange, error) {
	from, to, found := strings.Cut(s, "-")
	if !found {
		return IPRange{}, fmt.Errorf("no hyphen in range %q", s)
	}
	first, err := netip.ParseAddr(from)
	if err != nil {
		return IPRange{}, err
	}
	last, err := netip.ParseAddr(to)
	if err == nil && last.Less(first) {
		err = fmt.Errorf("range %q ends before it begins", s)
	}
	return IPRange{first, last}, err
}

// Masked is the prefix with its host bits zeroed.
func (p IPPrefix) Masked() IPPrefix { return IPPrefix{p.Prefix.Masked()} }

// IPNet is the prefix as a net.IPNet.
func (p IPPrefix) IPNet() *net.IPNet {
	return &net.IPNet{
		IP:   p.Addr().AsSlice(),
		Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
	}
}
