"""Playing by hand: what a person may choose and what it is called, in the terminal and in the Studio alike."""
