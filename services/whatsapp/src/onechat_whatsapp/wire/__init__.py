"""The narrow port to WhatsApp, and the child process behind it that alone loads the library."""
