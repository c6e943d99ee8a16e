"""Doors to other libraries. Each is a room of its own: importing one needs its library and loads no other."""
