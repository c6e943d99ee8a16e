"""Cases designed by hand, one folder each: the past, the people, the hidden tests, and the case that joins them."""
