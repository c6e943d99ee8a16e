"""A discrete-event simulation of services under load: times, ids and latencies agree because they happened."""
