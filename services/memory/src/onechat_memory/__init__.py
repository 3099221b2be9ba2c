"""onechat's memory service: logs, trees and views."""
