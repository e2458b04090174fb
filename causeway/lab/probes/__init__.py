"""What a lab says of itself: probes read and never judge, and change nothing that stays."""
