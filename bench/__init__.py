"""Benchmarks of onechat: each measures beside a baseline of the same run. How to run them: README.md."""
