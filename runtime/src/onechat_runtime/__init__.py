"""What every onechat service needs and no domain word."""
