"""Time to a verified gap, ours and the peers', on the same objective with the same threads. Not part of the wheel."""
