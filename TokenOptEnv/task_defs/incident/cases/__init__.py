"""The incidents designed by hand, one file each."""
