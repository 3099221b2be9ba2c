"""What every onechat service needs, and no domain word: README.md has the rooms and their interface."""
