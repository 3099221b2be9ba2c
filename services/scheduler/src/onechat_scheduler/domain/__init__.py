"""What schedules are and when they run; pure."""
