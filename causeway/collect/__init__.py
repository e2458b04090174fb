"""What a production node says of itself (collect.sh), and a site made of what all of them say."""
