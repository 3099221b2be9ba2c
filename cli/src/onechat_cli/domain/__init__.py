"""What a terminal client makes of what it hears: pure, standard library only."""
