"""The rules of logs, trees and views. Pure: the standard library alone, no clock, no chance, no store."""
