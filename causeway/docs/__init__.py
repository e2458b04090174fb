"""The pages of docs/, made from what they describe."""
